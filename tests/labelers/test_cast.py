import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from dips import PseudoLabelClassifier
from dips.labelers import CAST, Greedy
from dips.labelers._cast import ClassDensity

from .examples import as_pairs, make_candidates, random_members

NEAR, FAR = [3.75, 0.12, 0.13], [30.0, -30.0, 30.0]  # of class 0


def sure(*rows):
    """Candidates that the model is sure are of class 0, at the given places."""
    members = np.tile([0.96, 0.02, 0.02], (6, len(rows), 1))
    return make_candidates(members, features=np.array(rows, dtype=float))


def test_a_sure_row_is_taken_near_its_class_and_not_far_from_it():
    assert as_pairs(CAST().propose(sure(NEAR, FAR))) == [(0, 0)]
    assert as_pairs(Greedy().propose(sure(NEAR, FAR))) == [(0, 0), (1, 0)]


def test_without_regularization_it_is_greedy():
    for seed in range(5):
        candidates = make_candidates(
            random_members(random_state=seed), features=np.random.RandomState(0).normal(size=(60, 3))
        )
        assert as_pairs(CAST(alpha=0).propose(candidates)) == as_pairs(Greedy().propose(candidates))


def test_confidence_is_multiplied_by_the_share_of_density():
    candidates = sure(NEAR, FAR)
    _, scores, _ = CAST(alpha=0.5).choose(candidates)
    np.testing.assert_allclose(scores, [0.96, 0.48])
    _, scores, _ = CAST(alpha=1).choose(candidates)
    np.testing.assert_allclose(scores, [0.96, 0.0])


def test_density_falls_from_one_to_zero_with_the_distance():
    candidates = sure(*(np.array(NEAR) + step * np.ones(3) for step in np.linspace(0, 5, 40)))
    density = ClassDensity(candidates)(candidates.features())[:, 0]
    assert density[0] == 1
    assert density[-1] == 0
    assert (np.diff(density) <= 0).all()
    assert ((density > 0) & (density < 1)).any()


def test_density_is_learned_from_given_labels_where_there_are_any():
    candidates = sure(NEAR, FAR)
    labels, features = candidates.useful_labels, candidates.useful_features()
    pseudo = make_candidates(np.tile([0.96, 0.02, 0.02], (6, 2, 1)), features=np.array([NEAR, FAR]))
    object.__setattr__(pseudo, "useful_labels", np.append(labels, 0))
    object.__setattr__(pseudo, "useful_is_given", np.append(np.ones(labels.size, dtype=bool), False))
    object.__setattr__(pseudo, "useful_features", lambda: np.vstack([features, FAR]))
    assert as_pairs(CAST().propose(pseudo)) == [(0, 0)]


@pytest.mark.parametrize("kind", ["sparse", "frame", "images", "missing"])
def test_features_of_any_kind_are_read(kind):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (60, 4))])
    truth = np.repeat([0, 1], 60)
    order = rng.permutation(120)
    X, truth = X[order], truth[order]
    y = np.where(np.arange(120) < 30, truth, -1)
    if kind == "sparse":
        X = sp.csr_array(X)
    elif kind == "frame":
        X = pd.DataFrame(X, columns=list("abcd")).assign(ward=np.where(truth, "east", "west"))
    elif kind == "missing":
        X[rng.uniform(size=X.shape) < 0.2] = np.nan
    elif kind == "images":
        X = X.reshape(120, 2, 2)
    forest = Flattening(20, random_state=0) if kind == "images" else RandomForestClassifier(20, random_state=0)
    model = PseudoLabelClassifier(forest, labeler="cast", curator="none", n_rounds=2, random_state=0).fit(X, y)
    assert (model.labeled_iter_ > 0).sum() > 20
    assert (model.transduction_ == truth)[model.labeled_iter_ > 0].all()


class Flattening(RandomForestClassifier):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X.reshape(len(X), -1), y, sample_weight)

    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X).reshape(len(X), -1))


def test_texts_are_read_as_their_pipeline_sees_them():
    texts = ["pain in the chest", "chest pain at night", "a broken leg", "leg broken in two"] * 10
    y = [0, 0, 1, 1] * 4 + [-1] * 24
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression(C=10))
    model = PseudoLabelClassifier(pipeline, labeler="cast", curator="none", n_rounds=2, random_state=0).fit(texts, y)
    assert (model.labeled_iter_ > 0).any()


def test_rows_in_files_are_read_in_batches_and_labeled_as_those_in_memory(tmp_path):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(0, 1, (100, 2)), rng.normal(3, 1, (100, 2))])
    y = np.repeat([0, 1], 100)
    labeled = rng.permutation(200) < 40
    pd.DataFrame(X[~labeled], columns=["a", "b"]).to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    settings = {"labeler": "cast", "curator": "none", "n_rounds": 3, "random_state": 0}
    forest = RandomForestClassifier(10, random_state=0)
    in_memory = PseudoLabelClassifier(forest, **settings).fit(X[labeled], y[labeled], X[~labeled])
    in_files = PseudoLabelClassifier(forest, **settings).fit(X[labeled], y[labeled], tmp_path)
    np.testing.assert_array_equal(in_files.labeled_iter_, in_memory.labeled_iter_)
    assert (in_files.labeled_iter_ > 0).any()
