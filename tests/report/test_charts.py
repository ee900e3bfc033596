"""Charts: what is written under bins, and what stays inside the frame."""

import re
from itertools import pairwise

from dips._report.charts import line_chart, share_chart

_LETTER = 7  # pixels of a wide letter, at the size of ticks


def written(drawn):
    """Left and right end of each text under a chart of ten or eleven bins, in order."""
    ticks = re.findall(r'<text class="tick (end|middle)" x="([\d.]+)" y="178.0">([^<]*)<', str(drawn))
    ends = {"end": (1, 0), "middle": (0.5, 0.5)}
    found = [(float(x), len(text) * _LETTER, ends[side], text) for side, x, text in ticks]
    return [(x - w * before, x + w * after, text) for x, w, (before, after), text in found]


def shares(names, edges):
    return share_chart(names, [("class0", [0.1] * len(names))], title="amount", edges=edges)


def test_edges_of_bins_do_not_run_into_each_other():
    for step in (1, 10.25, 1400):
        edges = [f"{step * k:.5g}" for k in range(11)]
        for gap in ([], ["missing"]):
            labels = written(shares([f"bin {k}" for k in range(10)] + gap, edges))
            assert len(labels) >= 6
            assert all(a[1] <= b[0] for a, b in pairwise(labels)), labels


def test_the_bin_of_missing_values_is_named():
    edges = [f"{1400 * k}" for k in range(11)]
    assert written(shares([f"bin {k}" for k in range(10)] + ["missing"], edges))[-1][2] == "missing"


def test_an_interval_ends_where_the_axis_ends():
    drawn = line_chart([("chosen", [(0.1, 0.1)])], "x", "y", title="t", spans=[(0.1, 0.05, 0.9)], most=0.3)
    (top,) = re.findall(r'class="span"[^>]*y2="([\d.-]+)"', str(drawn))
    assert float(top) == 10
