"""Each ingredient of the synthetic tables: shapes, rates, no accidents, learnable."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier

from dips.network._prior import _causal, _classes, _columns, _functions, _latent, _noise, _rules, _trees
from dips.network._prior._draws import Draws, ranks, standardized
from dips.network._prior._tables import Shape, make_tables
from dips.network._settings import PriorSettings

TABLES, ROWS, COLUMNS, CLASSES = 12, 200, 5, 3
FUNCTIONS = [_functions.linear, _functions.additive, _functions.waves, _functions.products, _functions.prototypes]

CRISP = (2.5, 60.0)  # scores decide nearly alone


@pytest.fixture
def draws():
    return Draws("cpu", 0)


@pytest.fixture
def x(draws):
    return standardized(_latent.correlated(draws, TABLES, ROWS, COLUMNS)[0])


def labels_of(draws, x):
    return _classes.by_score(draws, _functions.linear(draws, x, CLASSES), CRISP)


def accuracy_above_majority(values, classes):
    """How much a forest on half of the rows beats the larger class on the other half, in the mean over tables."""
    gains = []
    for table, truth in zip(np.asarray(values), np.asarray(classes), strict=True):
        half = len(table) // 2
        forest = ExtraTreesClassifier(20, min_samples_leaf=2, random_state=0).fit(table[:half], truth[:half])
        gains.append(forest.score(table[half:], truth[half:]) - np.bincount(truth[half:]).max() / half)
    return np.mean(gains)


def test_ranks_are_even_between_zero_and_one(x):
    rank = ranks(x).sort(1).values
    assert torch.allclose(rank, ((torch.arange(ROWS) + 0.5) / ROWS)[None, :, None].expand_as(rank))


@pytest.mark.parametrize("function", [*FUNCTIONS, _trees.trees], ids=lambda f: f.__name__)
def test_a_forest_learns_classes_made_by_a_function(draws, x, function):
    scores = function(draws, x, CLASSES)
    assert scores.shape == (TABLES, ROWS, CLASSES)
    assert scores.isfinite().all()
    assert accuracy_above_majority(x, _classes.by_score(draws, scores, CRISP).true) > 0.02


def test_a_forest_learns_rules_over_categories(draws, x):
    level = _columns.levels(draws, ranks(x), 6)
    scores = _rules.rules(draws, level, CLASSES, 6)
    one_hot = torch.nn.functional.one_hot(level, 6).flatten(2)
    assert accuracy_above_majority(one_hot, _classes.by_score(draws, scores, CRISP).true) > 0.05


def test_causes_and_effects_tell_the_class(draws):
    x, scores = _causal.causal(draws, TABLES, ROWS, COLUMNS, CLASSES)
    assert x.shape == (TABLES, ROWS, COLUMNS)
    assert torch.cat([x, scores], 2).isfinite().all()
    assert accuracy_above_majority(x, _classes.by_score(draws, scores, CRISP).true) > 0.02


def test_a_cluster_is_told_by_its_rows(draws):
    x, cluster = _latent.clustered(draws, TABLES, ROWS, COLUMNS, 4)
    assert accuracy_above_majority(x, cluster) > 0.2


def test_hidden_causes_show_a_little_in_every_column(draws):
    x, hidden = _latent.correlated(draws, 60, ROWS, 12)
    assert hidden.shape == (60, ROWS, 4)
    scores = _functions.linear(draws, hidden, 2)
    gain = accuracy_above_majority(x, _classes.by_score(draws, scores, CRISP).true)
    best = accuracy_above_majority(hidden, _classes.by_score(draws, scores, CRISP).true)
    assert 0.02 < gain < best


def test_columns_may_share_one_cause_or_several(draws):
    _, hidden = _latent.correlated(draws, 200, ROWS, 12)
    largest = hidden.square().mean(1).amax(1) / hidden.square().mean(1).sum(1)
    assert (largest > 0.8).float().mean() > 0.1
    assert (largest < 0.4).float().mean() > 0.1


def test_copies_are_correlated_with_their_source(draws):
    x = _latent.with_copies(draws, draws.normal(200, ROWS, COLUMNS))
    correlation = torch.stack([torch.corrcoef(table.T) for table in x]) - torch.eye(COLUMNS)
    assert 0.02 < (correlation.abs() > 0.5).float().mean() < 0.3


def test_rows_of_another_source_lie_elsewhere(draws):
    x = draws.normal(TABLES, ROWS, COLUMNS)
    source = draws.integers(TABLES, ROWS, high=3)
    moved = _latent.shifted(draws, x, source)
    assert moved.isfinite().all()
    assert accuracy_above_majority(moved, source) > 0.1


def test_levels_are_few_uneven_and_whole(draws, x):
    level = _columns.levels(draws, ranks(x), 9)
    assert level.min() >= 0
    assert level.max() < 9
    distinct = [len(column.unique()) for table in level for column in table.T]
    assert min(distinct) >= 1
    assert len(set(distinct)) > 3
    commonest = torch.stack([(level == number).float().mean(1) for number in range(9)]).amax(0)
    assert (commonest > 0.5).float().mean() > 0.2


def test_the_frequency_of_a_level_tells_its_place_in_some_columns(draws):
    rank = ranks(draws.normal(200, ROWS, COLUMNS))
    level = _columns.levels(draws, rank, 6)
    told = []
    for places, names in zip(rank.transpose(1, 2).flatten(0, 1), level.transpose(1, 2).flatten(0, 1), strict=True):
        counts = torch.bincount(names)[names]
        told.append(torch.corrcoef(torch.stack([places, -counts.float()]))[0, 1].item())
    told = np.array(told)[~np.isnan(told)]
    assert np.mean(told > 0.7) > np.mean(told < -0.7) + 0.1
    assert np.mean(np.abs(told) < 0.5) > 0.2


@pytest.mark.parametrize("classes", [2, 7])
def test_intervals_and_scores_use_every_class_name(draws, classes):
    scores = draws.normal(40, ROWS, classes)
    for labels in (_classes.by_score(draws, scores, CRISP), _classes.by_interval(draws, scores, (0.02, 0.8))):
        assert labels.true.min() == 0
        assert labels.true.max() == classes - 1
        assert (labels.runner_up != labels.true).all()
        assert labels.runner_up.max() < classes
        assert labels.doubt.isfinite().all()


@pytest.mark.parametrize(("way", "range_"), [(_classes.by_score, (0.5, 2.0)), (_classes.by_interval, (0.3, 1.5))])
def test_the_chances_are_those_of_the_classes_that_come_out(draws, way, range_):
    labels = way(draws, draws.normal(400, ROWS, CLASSES), range_)
    assert torch.allclose(labels.chances.sum(-1), torch.ones(400, ROWS), atol=1e-5)
    came_out = torch.nn.functional.one_hot(labels.true, CLASSES).float()
    for low in (0.1, 0.4, 0.7):
        about = (labels.chances > low) & (labels.chances < low + 0.2)
        assert came_out[about].mean() == pytest.approx(labels.chances[about].mean().item(), abs=0.02)


def test_warped_columns_keep_the_order_of_their_values(draws, x):
    shown = _columns.warped(draws, x, ranks(x))
    assert shown.isfinite().all()
    for hidden, seen in zip(x.transpose(1, 2).flatten(0, 1), shown.transpose(1, 2).flatten(0, 1), strict=True):
        steps = seen[hidden.argsort()].diff()
        assert (steps >= 0).all() or (steps <= 0).all()


def test_cells_are_missing_in_some_tables_only(draws, x):
    rank = ranks(draws.normal(300, 60, COLUMNS))
    gone = (
        _columns.missing(draws, rank, draws.integers(300, 60, high=2), 2, draws.chance(300, 1, p=0.4))
        .float()
        .mean((1, 2))
    )
    assert 0.4 < (gone == 0).float().mean() < 0.9
    assert gone.max() > 0.2


def test_columns_go_missing_together_in_some_tables(draws):
    rank = ranks(draws.normal(400, 60, COLUMNS))
    gone = _columns.missing(draws, rank, draws.integers(400, 60, high=2), 2, draws.chance(400, 1, p=0.0)).float()
    pairs = []
    for table in gone:
        gaps = table[:, (table.mean(0) > 0.2) & (table.mean(0) < 0.8)]
        pairs += torch.corrcoef(gaps.T)[0, 1:].tolist() if gaps.shape[1] > 1 else []
    assert np.mean(np.array(pairs) > 0.4) > 0.1
    assert np.mean(np.abs(pairs) < 0.2) > 0.3


@pytest.mark.parametrize("classes", [2, 6])
def test_noise_keeps_to_its_bounds_and_a_quarter_is_clean(draws, classes):
    scores, settings = draws.normal(800, 64, classes), PriorSettings()
    labels = _classes.by_score(draws, scores, CRISP)
    dirt = _noise.dirty(draws, labels, ranks(scores), classes, settings)
    assert dirt.given.min() >= 0
    assert dirt.given.max() < classes
    assert 0.2 < (dirt.noise == 0).float().mean() < 0.35
    aimed = 0.75 * (0.23 if classes == 2 else 0.26)  # half of 0.60, less where one class of six bears it all
    assert dirt.noise.mean() == pytest.approx(aimed, abs=0.03)


@pytest.mark.parametrize("classes", [2, 4])
def test_chances_of_a_labeled_row_are_how_often_its_label_is_right(draws, classes):
    scores = draws.normal(3000, 64, classes)
    labels = _classes.by_score(draws, scores, (0.5, 2.0))
    dirt = _noise.dirty(draws, labels, ranks(scores), classes, PriorSettings(clean=0.0))
    assert torch.allclose(dirt.chances.sum(-1), torch.ones(3000, 64), atol=1e-4)
    believed = dirt.chances.gather(2, dirt.given.unsqueeze(-1)).squeeze(-1)
    right = (dirt.given == labels.true).float()
    for low in (0.2, 0.5, 0.8):
        about = (believed > low) & (believed < low + 0.15)
        assert right[about].mean() == pytest.approx(believed[about].mean().item(), abs=0.02)
    wrong = torch.nn.functional.one_hot(labels.true, classes).float() - dirt.chances
    assert wrong.mean((0, 1)).abs().max() < 0.01


def test_noise_by_class_often_goes_one_way(draws):
    kind = torch.full((400, 1), _noise.KINDS.index("class"))
    touched = (_noise._by_class(draws, kind, 3) > 0.02).sum(1)
    assert 0.3 < (touched == 1).float().mean() < 0.8


def test_noise_near_the_border_hits_doubtful_rows(draws):
    labels = _classes.by_score(draws, draws.normal(100, ROWS, 2), CRISP)
    border = torch.full((100, 1), _noise.KINDS.index("border"))
    likelier = _noise.wrong_chance(draws, border, labels, ranks(draws.normal(100, ROWS, 3)), 2)
    likelier = likelier.gather(2, labels.true.unsqueeze(-1)).squeeze(-1)
    assert likelier[labels.doubt > 0.8].mean() > 2 * likelier[labels.doubt < 0.5].mean()
    assert torch.allclose(likelier.mean(1), torch.ones(100), atol=1e-4)


def chances_by_row(draws, kind):
    """How much likelier than the mean each label of a hundred tables is wrong."""
    labels = _classes.by_score(draws, draws.normal(100, ROWS, 2), CRISP)
    kinds = torch.full((100, 1), _noise.KINDS.index(kind))
    likelier = _noise.wrong_chance(draws, kinds, labels, ranks(draws.normal(100, ROWS, 3)), 2)
    return likelier.gather(2, labels.true.unsqueeze(-1)).squeeze(-1)


def test_even_noise_hits_all_rows_alike(draws):
    assert torch.allclose(chances_by_row(draws, "symmetric"), torch.ones(100, ROWS))


def test_noise_by_row_hits_some_rows_much_more_than_others(draws):
    likelier = chances_by_row(draws, "row")
    assert torch.allclose(likelier.mean(1), torch.ones(100), atol=1e-4)
    assert (likelier.quantile(0.95, 1) > 3 * likelier.quantile(0.05, 1)).float().mean() > 0.5


def test_noise_by_annotator_is_that_of_two_people(draws):
    likelier = chances_by_row(draws, "annotator")
    assert all(len(table.unique()) == 2 for table in likelier)
    bad = (likelier > 1).float().mean(1)
    assert bad.min() < 0.2
    assert bad.max() > 0.5


def test_missing_cells_tell_the_class_in_telling_tables_only(draws):
    rank, true = ranks(draws.normal(200, ROWS, COLUMNS)), draws.integers(200, ROWS, high=2)
    telling = torch.arange(200).unsqueeze(1) < 100
    gone = _columns.missing(draws, rank, true, 2, telling).float()
    shares = [(gone * (true == c).unsqueeze(-1)).sum(1) / (true == c).sum(1, keepdim=True) for c in (0, 1)]
    differ, with_gaps = (shares[0] - shares[1]).abs().amax(1), gone.flatten(1).any(1)
    assert (differ[:100] > 0.2)[with_gaps[:100]].float().mean() > 0.2
    assert (differ[100:] > 0.2)[with_gaps[100:]].float().mean() < 0.05


def test_classes_are_uneven_in_many_tables(draws):
    scores = draws.normal(300, ROWS, 2)
    for labels in (_classes.by_score(draws, scores, (0.7, 30.0)), _classes.by_interval(draws, scores, (0.02, 1.2))):
        share = (labels.true == 0).float().mean(1)
        assert ((share < 0.3) | (share > 0.7)).float().mean() > 0.2


def test_one_column_at_least_matters(draws):
    weights = _columns.relevant_columns(draws, 400, COLUMNS, dense=0.0)
    assert (weights > 0).any(1).all()
    assert 0.2 < (weights == 0).float().mean() < 0.7


def test_every_column_matters_alike_in_the_dense_tables(draws):
    weights = _columns.relevant_columns(draws, 400, COLUMNS, dense=0.3)
    assert 0.2 < (weights == 1).all(1).float().mean() < 0.4


WIDE = Shape(16, 0, 8, 48, 3)


@pytest.mark.parametrize("shape", [Shape(16, 0, 8, 2, 2), Shape(40, 24, 16, 7, 4), Shape(64, 96, 64, 8, 10), WIDE])
def test_whole_tables_hold_together(draws, shape):
    tables = make_tables(draws, 24, shape, PriorSettings(max_levels=8))
    assert tables.values.shape == (24, shape.rows, shape.columns)
    assert tables.values[~tables.values.isnan()].isfinite().all()
    assert tables.given.shape == (24, shape.labeled)
    assert tables.true.max() < shape.classes
    wrong = (tables.given != tables.true[:, : shape.labeled]).float().mean(1)
    assert torch.allclose(wrong, tables.noise)
    levels = tables.values.transpose(1, 2)[tables.categorical].nan_to_num(0)
    assert (levels == levels.floor()).all()
    assert levels.numel() == 0 or levels.max() < 8


def test_the_same_seed_makes_the_same_tables():
    shape = Shape(16, 8, 8, 4, 3)
    one, other = (make_tables(Draws("cpu", 7), 10, shape, PriorSettings()) for _ in range(2))
    assert torch.equal(one.values.nan_to_num(-9), other.values.nan_to_num(-9))
    assert torch.equal(one.given, other.given)
