"""What labelers and curators have in common: settings, and checks run one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from dips._tools.registry import Named, Registry
from dips._tools.sklearn_compat import InvalidParameterError

Check = Callable[[Any], None]


def run_checks(checks: Sequence[Check], part: Any) -> None:
    """Run all checks on a part; the first that fails is named."""
    for check in checks:
        try:
            check(part)
        except AssertionError as error:
            raise AssertionError(f"{check.__name__} failed for {part!r}: {error}") from error


def check_is_documented_and_clonable(part: Named) -> None:
    """The class has a docstring, and a clone has the same settings."""
    assert type(part).__doc__, f"{type(part).__name__} has no docstring"
    assert clone(part).get_params() == part.get_params(), "a clone has other settings"


def settings_check(registry: Registry[Any]) -> Check:
    """Return the check that nonsense in any setting is refused by name before any work."""

    def check_every_setting_is_validated(part: Named) -> None:
        cls = type(part)
        missing = set(part.get_params()) ^ set(cls._parameter_constraints)
        assert not missing, f"_parameter_constraints and the settings differ in {sorted(missing)}"
        for parameter in part.get_params():
            message = _refusal(registry, clone(part).set_params(**{parameter: "nonsense"}))
            assert message, f"{parameter}='nonsense' was accepted"
            assert parameter in message, f"the error does not name {parameter!r}: {message}"

    return check_every_setting_is_validated


def _refusal(registry: Registry[Any], part: Named) -> str:
    try:
        registry.resolve(part)
    except InvalidParameterError as error:
        return str(error)
    return ""


class NoRandomNumbers:
    """Around a call: NumPy's global random numbers must not be drawn."""

    def __enter__(self) -> None:
        self.before = _global_state()

    def __exit__(self, *error: object) -> None:
        assert _global_state() == self.before, "NumPy's global random numbers were drawn; use a seed of your own"


def _global_state() -> tuple[int, ...]:
    state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002 (the global one is what is checked)
    return (state["pos"], *state["key"].tolist())
