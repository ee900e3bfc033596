"""Whatever happens to a run folder, in whatever order, there is the last finished run in full, or none."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dips._study.folder import RunFolder
from dips._study.run import Run
from dips._tools import exchange
from dips.exceptions import ModelError, OutputError


class KilledError(BaseException):
    """Ends a process where it is, as far as the folder is concerned."""


class RunFolderMachine(RuleBasedStateMachine):
    """Two processes and a user: fit, be killed at any step, force, run again, look."""

    def __init__(self):
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.path = self.place / "run"
        self.finished = None  # the number of the run that must be there
        self.number = 0
        self.other = None  # a second process that holds the folder

    def teardown(self):
        if self.other is not None:
            self.other.__exit__(None, None, None)
        shutil.rmtree(self.place)

    @rule(force=st.booleans(), dies_at=st.one_of(st.none(), st.integers(0, 5)), can_exchange=st.booleans())
    def fit(self, force, dies_at, can_exchange):
        self.number += 1
        steps = iter(range(100))

        def step():
            if next(steps) == dies_at:
                raise KilledError

        try:
            self._fit(force, step, can_exchange)
            self.finished = self.number
        except OutputError:
            assert self.other is not None or (self.finished is not None and not force)
        except KilledError:
            present = self._found()
            assert present in (self.finished, self.number)
            self.finished = present

    def _fit(self, force, step, can_exchange):
        move = os.replace

        def killed_before(*paths):
            step()
            move(*paths)

        import dips._study.folder as module

        module.os.replace, exchanged = killed_before, module.exchanged
        module.exchanged = exchange.exchanged if can_exchange else lambda one, other: False
        try:
            with RunFolder(self.path, force).held() as folder:
                step()
                folder.begin(str(self.number))
                step()
                (folder.staging / "config.json").write_text(json.dumps({"number": self.number}))
                folder.finish()
        finally:
            module.os.replace, module.exchanged = move, exchanged

    @precondition(lambda self: self.other is None)
    @rule()
    def another_process_begins(self):
        try:
            held = RunFolder(self.path, force=True).held()
            held.__enter__()
            self.other = held
        except OutputError:
            raise AssertionError("nobody held the folder") from None

    @precondition(lambda self: self.other is not None)
    @rule()
    def the_other_process_ends(self):
        self.other.__exit__(None, None, None)
        self.other = None

    @rule()
    def a_lock_is_left_behind(self):
        if self.other is None:
            (self.place / ".run.lock").write_text("process 1 on nowhere since long ago")

    def _found(self):
        try:
            return Run(self.path).config["number"]
        except ModelError:
            return None

    @invariant()
    def the_last_finished_run_is_there(self):
        if self.other is None:
            assert self._found() == self.finished


RunFolderMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
TestRunFolder = RunFolderMachine.TestCase
