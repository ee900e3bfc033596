"""The network and its training: what may not matter does not, and a stopped training goes on as if it had not."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from dips.exceptions import ModelError
from dips.network import train
from dips.network._cells import Cells, encode
from dips.network._evaluate import evaluate
from dips.network._loss import LossBook, losses_by_row
from dips.network._model import Network, same_row_mask
from dips.network._optimizer import orthogonal
from dips.network._prior._draws import Draws
from dips.network._settings import TINY, NetworkSettings
from dips.network._tasks import KINDS, RealTable, drawn_rows, make_task
from dips.network._training import NetworkTrainer, draw_shape
from dips.network._weights import Weights
from dips.network.train import changed


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = Network(TINY.model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def cells_of(values, given, classes=3, context=12):
    flags = torch.zeros(len(values), values.shape[2], dtype=torch.bool)
    flags[:, -1] = True
    return encode(values, flags, given, classes, context, 4, Draws("cpu", 1), TINY.model)


@pytest.fixture
def cells():
    draws = Draws("cpu", 0)
    values = draws.normal(2, 16, 5)
    values[..., -1] = draws.integers(2, 16, high=4)
    values[0, 3, 1] = torch.nan
    return cells_of(values, draws.integers(2, 8, high=3))


def test_cells_are_finite_and_of_the_stated_width(cells):
    assert cells.cells.isfinite().all()
    assert cells.cells.shape[:3] == (2, 16, 3)
    assert cells.cells.shape[3] == Network(TINY.model).cell_in.in_features


def test_ranks_do_not_see_the_queries():
    values = Draws("cpu", 0).normal(1, 16, 5).abs()
    given = torch.zeros(1, 8, dtype=torch.long)
    one = cells_of(values, given).cells[:, :12]
    values[:, 12:] += 5
    assert torch.allclose(one, cells_of(values, given).cells[:, :12])


def test_queries_do_not_change_the_other_rows(model, cells):
    whole = model(cells, 12)
    fewer = Cells(cells.cells[:, :13], cells.token_code, cells.marks[:, :13], cells.class_code, cells.present)
    assert torch.allclose(whole[:, :13], model(fewer, 12), atol=1e-5)


def test_the_order_of_unlabeled_context_rows_does_not_matter(model, cells):
    order = torch.tensor([*range(8), 11, 9, 8, 10, *range(12, 16)])
    moved = Cells(cells.cells[:, order], cells.token_code, cells.marks[:, order], cells.class_code, cells.present)
    assert torch.allclose(model(cells, 12)[:, order], model(moved, 12), atol=1e-5)


def test_the_order_of_named_classes_and_tokens_does_not_matter(model, cells):
    order, tokens = torch.tensor([2, 0, 1]), torch.tensor([1, 2, 0])
    moved = Cells(
        cells.cells[:, :, tokens],
        cells.token_code[:, tokens],
        cells.marks[:, :, order],
        cells.class_code[:, order],
        cells.present[:, order],
    )
    assert torch.allclose(model(cells, 12)[:, :, order], model(moved, 12), atol=1e-5)


def test_rows_side_by_side_are_still_apart(model, cells):
    assert same_row_mask(32, 6, 32, torch.float32, torch.device("cpu")) is not None
    packed = model(cells, 12)
    model.settings = model.settings.__class__(**(vars(model.settings) | {"packed_tokens": 0}))
    assert torch.allclose(packed, model(cells, 12), atol=1e-5)


def test_compiled_answers_are_the_same(model, cells):
    plain = model(cells, 12)
    model.compile("eager")
    assert torch.allclose(plain, model(cells, 12), atol=1e-4)


def test_rows_of_a_class_without_label_do_not_count(model, cells):
    true = torch.full((2, 16), 2)
    present = cells.present.clone()
    present[:, 2] = False
    chances = torch.full((2, 16, cells.present.shape[1]), 1 / cells.present.shape[1])
    loss, counts = losses_by_row(model(cells, 12), true, chances, present, 8)
    assert counts.sum() == 0
    assert loss.sum() == 0


def test_rows_learn_the_chances_of_their_classes(model, cells):
    logits, true = model(cells, 12), torch.zeros(2, 16, dtype=torch.long)
    present = torch.ones_like(cells.present)
    chances = torch.rand(2, 16, present.shape[1]).softmax(-1)
    loss, _ = losses_by_row(logits, true, chances, present, 8)
    assert torch.allclose(loss[:, :8], -(chances * logits[..., 1].log_softmax(-1))[:, :8].sum(-1))
    assert torch.allclose(loss[:, 8:], -(chances * logits[..., 0].log_softmax(-1))[:, 8:].sum(-1))


def test_the_book_tells_losses_apart_and_starts_anew():
    book = LossBook(torch.device("cpu"))
    ones, true = torch.ones(3, 6), torch.tensor([[0, 1, 0, 1, 0, 1]]).expand(3, -1)
    book.add(ones, ones, true, torch.tensor([0.0, 0.1, 0.4]), 2, 2)
    report = book.read()
    assert report["all"] == {"unlabeled": 1.0, "labeled": 1.0, "entropy": 0.6931, "tables": 3}
    assert report["noise<=1e-06"]["tables"] == 1
    assert book.read()["all"]["tables"] == 0


def test_an_orthogonal_update_has_singular_values_near_one():
    values = torch.linalg.svdvals(orthogonal(torch.randn(2, 48, 16)).float())
    assert 0.5 < values.min() < values.max() < 1.4


def test_queries_keys_and_values_are_made_orthogonal_each_by_itself():
    settings = TINY.model
    width, heads = settings.width, settings.row_heads
    trainer = NetworkTrainer(TINY, torch.device("cpu"))
    direction = trainer.optimizer.muon._direction("row_qkv", torch.randn(settings.layers, 3 * width, width))
    parts = direction.view(settings.layers, heads, 3, -1, width).transpose(1, 2).reshape(-1, width, width)
    values = torch.linalg.svdvals(parts.float()) / width**0.5
    assert 0.6 < values.median() < values.max() < 1.4


def test_steps_in_a_row_differ_in_shape(monkeypatch):
    trainer = NetworkTrainer(changed(TINY, ["draws_in_hand=6", "steps_per_draw=4"]), torch.device("cpu"))
    seen, loss = [], trainer.loss
    monkeypatch.setattr(trainer, "loss", lambda shape, *rest: seen.append(shape) or loss(shape, *rest))
    trainer.steps(1.0)
    same = np.mean([one == other for one, other in itertools.pairwise(seen)])
    assert len(seen) == trainer.place.step == 24
    assert trainer.place.draw == 6
    assert same < 0.7  # three in four where each draw is used up before the next


def test_a_training_begins_with_exported_weights(tmp_path):
    trainer = NetworkTrainer(TINY, torch.device("cpu"))
    Weights.random(TINY.model, 3).save(tmp_path / "weights.npz")
    trainer.start_from(tmp_path / "weights.npz")
    wanted = Weights.load(tmp_path / "weights.npz").arrays
    for name, weight in trainer.averaged().named_parameters():
        assert np.array_equal(weight.detach().numpy(), wanted[name]), name
    Weights.random(NetworkSettings().model, 3).save(tmp_path / "large.npz")
    with pytest.raises(ModelError, match="other sizes"):
        trainer.start_from(tmp_path / "large.npz")


def test_the_order_of_names_in_a_file_of_weights_does_not_matter(tmp_path):
    trainer = NetworkTrainer(TINY, torch.device("cpu"))
    Weights.random(TINY.model, 3).save(tmp_path / "weights.npz")
    trainer.start_from(tmp_path / "weights.npz")
    trainer.steps(1e-9)
    wanted = Weights.load(tmp_path / "weights.npz").arrays
    for name, weight in trainer.averaged().named_parameters():
        assert np.allclose(weight.detach().numpy(), wanted[name], atol=1e-4), name


def test_a_network_that_has_grown_deeper_answers_the_same(tmp_path, cells):
    Weights.random(TINY.model, 3).save(tmp_path / "weights.npz")
    answers = []
    for layers in (2, 5):
        trainer = NetworkTrainer(changed(TINY, [f"layers={layers}"]), torch.device("cpu"))
        trainer.start_from(tmp_path / "weights.npz")
        answers.append(trainer.model(cells, 12))
    assert torch.allclose(*answers, atol=1e-5)


def test_settings_are_changed_by_name():
    changes = changed(TINY, ["layers=3", "hints=False", "labeled=8,16", "clean=0.5"])
    assert (changes.model.layers, changes.model.hints) == (3, False)
    assert (changes.prior.labeled, changes.prior.clean) == ((8, 16), 0.5)
    for wrong in ("hints=no", "height=3"):
        with pytest.raises(SystemExit):
            changed(TINY, [wrong])


def test_a_network_that_begins_to_take_hints_answers_the_same(tmp_path, cells):
    Weights.random(replace(TINY.model, hints=False), 3).save(tmp_path / "weights.npz")
    trainer = NetworkTrainer(TINY, torch.device("cpu"))
    trainer.start_from(tmp_path / "weights.npz")
    deaf = Network(replace(TINY.model, hints=False))
    deaf.load_state_dict(
        {name: torch.as_tensor(array) for name, array in Weights.load(tmp_path / "weights.npz").arrays.items()}
    )
    silent = Cells(cells.cells, cells.token_code, cells.marks[..., :2], cells.class_code, cells.present)
    assert torch.allclose(trainer.model(cells, 12), deaf(silent, 12), atol=1e-5)
    with pytest.raises(ModelError, match="cannot grow"):
        Weights.random(TINY.model, 3).grown(replace(TINY.model, hints=False))


def test_every_block_of_a_grown_network_learns(tmp_path, cells):
    Weights.random(TINY.model, 3).save(tmp_path / "weights.npz")
    trainer = NetworkTrainer(changed(TINY, ["layers=5"]), torch.device("cpu"))
    trainer.start_from(tmp_path / "weights.npz")
    trainer.model(cells, 12).square().sum().backward()
    assert (trainer.model.bend_out.grad.square().sum((1, 2)) > 0).all()


def test_a_network_cannot_grow_shallower():
    with pytest.raises(ModelError, match="cannot grow"):
        Weights.random(TINY.model, 3).grown(changed(TINY, ["layers=1"]).model)


def test_shapes_fit_the_step():
    for index in range(200):
        shape, batch = draw_shape(1, index, NetworkSettings())
        assert shape.rows % 8 == 0
        assert shape.rows * shape.columns <= NetworkSettings().prior.max_cells
        assert batch >= 2


def test_the_loss_falls():
    trainer = NetworkTrainer(TINY, torch.device("cpu"))
    means = []
    for _ in range(2):
        for _ in range(10):
            trainer.steps(1.0)
        means.append(trainer.book.read()["all"])
    assert means[1]["labeled"] < means[0]["labeled"] - 0.02


def test_a_stopped_training_goes_on_as_if_it_had_not(tmp_path):
    straight = NetworkTrainer(TINY, torch.device("cpu"))
    for _ in range(2):
        straight.steps(1.0)
    first = NetworkTrainer(TINY, torch.device("cpu"))
    first.steps(1.0)
    first.save(tmp_path)
    second = NetworkTrainer(NetworkSettings.load(tmp_path / "settings.json"), torch.device("cpu"))
    second.resume(tmp_path)
    second.steps(1.0)
    for name, weight in straight.model.named_parameters():
        assert torch.equal(weight, dict(second.model.named_parameters())[name]), name
        assert torch.equal(straight.optimizer.mean[name], second.optimizer.mean[name]), name


def real_table():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(700, 4)).astype(np.float32)
    values[:, 3] = rng.integers(0, 3, 700)
    return RealTable("made", values, np.array([False] * 3 + [True]), (values[:, 0] > 0).astype(np.int64))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_noise_makes_about_the_share_of_labels_wrong(kind):
    table = real_table()
    task = make_task(table, 400, 0.3, 0, kind=kind)
    true = task.true[:400]
    wrong = task.given != true
    if kind == "class":
        assert wrong[true == np.bincount(true).argmax()].mean() == pytest.approx(0.3, abs=0.1)
        assert not wrong[true != np.bincount(true).argmax()].any()
    else:
        assert wrong.mean() == pytest.approx(0.3, abs=0.1)


def test_a_task_flips_about_as_many_labels_as_asked():
    task = make_task(real_table(), 400, 0.2, 0)
    assert (task.given != task.true[:400]).mean() == pytest.approx(0.2, abs=0.06)


def test_rows_of_a_task_are_drawn_in_a_known_order():
    table = real_table()
    rows = drawn_rows(table, 50, 0.2, 3)
    assert np.array_equal(make_task(table, 50, 0.2, 3).values[:50], table.values[rows[:50]])


def test_evaluation_scores_every_task(model):
    scores = evaluate(model, [real_table()], torch.device("cpu"), torch.float32)
    assert len(scores["by_task"]) == 9
    assert set(scores["mean"]) == {"accuracy", "log_loss", "auc", "auc_wrong"}


def test_the_command_trains_saves_and_goes_on(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    train.main(["--tiny", "--no-compile", "--max-steps", "8", "--out", str(one)])
    train.main(["--no-compile", "--max-steps", "16", "--resume", str(one), "--decay-minutes", "9", "--out", str(two)])
    place = json.loads((two / "place.json").read_text())
    assert place["step"] == 16
    assert [piece["from_step"] for piece in place["pieces"]] == [0, 8]
    entry = json.loads((two / "log-1.jsonl").read_text().splitlines()[0])
    assert entry["losses"]["all"]["tables"] > 0
