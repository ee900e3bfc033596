import pytest
import torch
from torch.nn.functional import cross_entropy

from dips.vision._fixmatch import FixMatch
from dips.vision._freematch import FreeMatch
from dips.vision._method import Batch, Logits, Supervised

SURE, UNSURE = [9.0, 0.0, 0.0], [0.2, 0.0, 0.1]


def batch(weak, strong, labeled=((2.0, 0.0, 0.0),), labels=(0,), useful=None):
    """A batch whose images are logits already."""
    weak, strong = torch.tensor(weak), torch.tensor(strong)
    useful = torch.ones(len(weak), dtype=torch.bool) if useful is None else torch.tensor(useful)
    return Batch(torch.tensor(labeled), torch.tensor(labels), weak, strong, useful)


def loss_of(method, views, state=None):
    logits = Logits(views.labeled, views.weak, views.strong)
    return method.loss(logits, views, method.state(3, "cpu") if state is None else state)


def test_supervised_is_the_cross_entropy_of_the_labels():
    loss, coverage = loss_of(Supervised(), batch([SURE], [SURE]))
    torch.testing.assert_close(loss, cross_entropy(torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([0])))
    assert coverage == 0


def test_fixmatch_asks_of_the_strong_view_what_the_weak_one_says():
    loss, coverage = loss_of(FixMatch(), batch([SURE, UNSURE], [[0.0, 1.0, 0.0], [0.0, 0.0, 5.0]]))
    labeled = cross_entropy(torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([0]))
    unlabeled = cross_entropy(torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([0])) / 2  # the mean is over all of them
    torch.testing.assert_close(loss, labeled + unlabeled)
    assert coverage == 0.5


@pytest.mark.parametrize("method", [FixMatch(), FreeMatch()], ids=["FixMatch", "FreeMatch"])
def test_suspect_pseudo_labels_are_not_used(method):
    loss, coverage = loss_of(method, batch([SURE], [[0.0, 3.0, 0.0]], useful=[False]))
    assert coverage == 0
    torch.testing.assert_close(loss, loss_of(Supervised(), batch([SURE], [SURE]))[0])


def test_freematch_starts_at_one_over_the_classes_and_follows_the_confidence():
    method = FreeMatch(memory=0.5)
    state = method.state(3, "cpu")
    assert state["threshold"].item() == pytest.approx(1 / 3)
    loss_of(method, batch([SURE], [SURE]), state)
    q = torch.tensor(SURE).softmax(0)
    assert state["threshold"].item() == pytest.approx(0.5 / 3 + 0.5 * q.max().item())
    torch.testing.assert_close(state["probability"], 0.5 / 3 + 0.5 * q)


def test_freematch_asks_less_of_classes_it_knows_less():
    method = FreeMatch()
    state = {"threshold": torch.tensor(0.9), "probability": torch.tensor([0.6, 0.3, 0.1])}
    torch.testing.assert_close(method.thresholds(state, 3), torch.tensor([0.9, 0.45, 0.15]))


def test_freematch_prefers_that_all_classes_are_predicted():
    method = FreeMatch(fairness=1.0, weight=0.0)
    one_class = batch([SURE] * 3, [[3.0, 0.0, 0.0]] * 3)
    all_classes = batch([SURE] * 3, [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    fair, unfair = (loss_of(method, b)[0] for b in (all_classes, one_class))
    assert fair.isfinite()
    assert unfair.isfinite()
    assert fair != unfair
