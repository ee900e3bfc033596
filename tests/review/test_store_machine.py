"""Any sequence of decisions, retries, undos, crashes and second windows leaves the trail that a list would hold."""

import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from dips._review.store import EventStore

RUN = "a" * 64
REVIEWERS = st.sampled_from(["anna", "ben"])
WINDOWS = st.sampled_from([0, 1])


class Trail(RuleBasedStateMachine):
    """Two windows on one file, beside a list of what was acknowledged."""

    requests = Bundle("requests")

    @initialize()
    def open_windows(self):
        self.folder = Path(tempfile.mkdtemp())
        self.windows = [self.opened(), self.opened()]
        self.told = []

    def opened(self):
        return EventStore(self.folder / "decisions.sqlite", RUN)

    @rule(target=requests, window=WINDOWS, reviewer=REVIEWERS, row=st.integers(0, 3), label=st.sampled_from("xy"))
    def decide(self, window, reviewer, row, label):
        request = (f"d{len(self.told)}-{reviewer}", reviewer, row, "", "label", label)
        self.told.append(self.windows[window].append(*request))
        return request

    @rule(window=WINDOWS, request=requests)
    def retry(self, window, request):
        again = self.windows[window].append(*request)
        assert again in self.told

    @rule(window=WINDOWS, reviewer=REVIEWERS)
    def undo(self, window, reviewer):
        taken_back = {event.undoes for event in self.told}
        standing = [e for e in self.told if e.reviewer == reviewer and e.undoes is None and e.seq not in taken_back]
        event = self.windows[window].undo(f"u{len(self.told)}", reviewer)
        assert (event is None) == (not standing)
        if event is not None:
            assert event.undoes == standing[-1].seq
            self.told.append(event)

    @rule(window=WINDOWS)
    def crash_and_open_again(self, window):
        self.windows[window]._db.close()
        self.windows[window] = self.opened()

    @invariant()
    def every_window_sees_what_was_told(self):
        for window in self.windows:
            assert window.events() == self.told
            assert window.verify() == len(self.told)

    def teardown(self):
        for window in self.windows:
            window.close()
        shutil.rmtree(self.folder)


Trail.TestCase.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTrail = Trail.TestCase
