"""scikit-learn's own tests of its self-training, run over ours: ``curator=None`` must pass every one of them.

The file comes from the installed scikit-learn. Its one import of the class is changed, and pytest collects the tests
from here as if they were written here.
"""

import importlib.util
from functools import partial
from pathlib import Path

import pytest

from dips import SelfTrainingClassifier

THEIR_IMPORT = "from sklearn.semi_supervised import SelfTrainingClassifier\n"
LEFT_OUT = "test_deprecation_warning_base_estimator"  # of 1.7: a parameter that is gone since 1.8 and never was in ours

SPEC = importlib.util.find_spec("sklearn.semi_supervised.tests")
FILE = Path(SPEC.origin).with_name("test_self_training.py") if SPEC and SPEC.origin else None
if FILE is None or not FILE.exists():
    pytest.skip("scikit-learn is installed without its tests, as some distributions do", allow_module_level=True)

_source = FILE.read_text(encoding="utf-8")
_theirs = {"__name__": __name__, "SelfTrainingClassifier": partial(SelfTrainingClassifier, curator=None)}
exec(compile(_source.replace(THEIR_IMPORT, ""), FILE, "exec"), _theirs)
globals().update({name: value for name, value in _theirs.items() if name.startswith("test_") and name != LEFT_OUT})


def test_that_all_of_their_tests_are_run_over_our_class():
    assert _source.count(THEIR_IMPORT) == 1
    assert _theirs["SelfTrainingClassifier"].func is SelfTrainingClassifier
    assert sum(name.startswith("test_") for name in _theirs) == _source.count("\ndef test_") >= 15
