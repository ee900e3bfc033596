"""Small charts as SVG. Colors come from the page's style sheet, so that they follow light, dark and print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from dips._tools.wording import cut

_LEFT, _TOP, _RIGHT, _BOTTOM = 46, 10, 10, 38
_MAX_NAMES = 11  # under bars
_LETTERS = 52  # under a chart of shares
_SHORT = 3  # letters that fit under each of ten bins
_TURNED = 14  # more height for names that are turned


def line_chart(
    lines: Sequence[tuple[str, Sequence[Sequence[float]]]],
    x_title: str,
    y_title: str,
    *,
    title: str,
    diagonal: bool = False,
    level: float | None = None,
    dots: bool = False,
    spans: Sequence[tuple[float, float, float]] = (),
    most: float = 1.0,
) -> Markup:
    """Lines of (x, y) from 0 to `most`, each with the class of the style sheet that colors it.

    Spans are intervals (x, low, high), drawn under the lines.
    """
    width, height = 320, 260
    frame = _Frame(width, height, (0.0, most), (0.0, most))
    ticks = [0, 0.25, 0.5, 0.75, 1] if most == 1 else nice_ticks(0, most)
    parts = [frame.axes(ticks, ticks, x_title, y_title)]
    if diagonal:
        parts.append(
            Markup('<line class="faint" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                *frame.at(0, 0), *frame.at(most, most)
            )
        )
    if level is not None:
        parts.append(
            Markup('<line class="faint" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                *frame.at(0, level), *frame.at(most, level)
            )
        )
    for x, low, high in spans:
        (x0, y0), (_, y1) = frame.at(x, min(low, most)), frame.at(x, min(high, most))
        parts.append(Markup('<line class="span" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(x0, y0, y1))
    for css, points in lines:
        path = " ".join(f"{x},{y}" for x, y in (frame.at(*p) for p in points))
        parts.append(Markup('<polyline class="line {}" points="{}"/>').format(css, path))
        if dots:
            parts += [
                Markup('<circle class="dot {}" cx="{}" cy="{}" r="3.5"/>').format(css, *frame.at(*p)) for p in points
            ]
    return _svg(width, height, title, parts)


def whisker_chart(rows: Sequence[dict[str, Any]], x_title: str, *, title: str, percent: bool) -> Markup:
    """One value with its interval per row; a row is a dict of label, value, low, high and css."""
    width, step = 640, 34
    height = _TOP + step * len(rows) + _BOTTOM
    low, high = min(r["low"] for r in rows), max(r["high"] for r in rows)
    margin = max(high - low, 1e-6) * 0.08
    span = (low - margin, high + margin)
    frame = _Frame(width, height, span, (0.0, 1.0), left=250)
    ticks = nice_ticks(*span)
    parts = [frame.axes(ticks, [], x_title, "", percent=percent)]
    for i, row in enumerate(rows):
        y = _TOP + step * (i + 0.5)
        x, x_low, x_high = (frame.at(row[k], 0)[0] for k in ("value", "low", "high"))
        css = row["css"]
        parts += [
            Markup('<text class="name {}" x="240" y="{}">{}</text>').format(css, y + 4, cut(row["label"], 36)),
            Markup('<line class="whisker {}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(css, x_low, x_high, y, y),
            Markup('<circle class="dot {}" cx="{}" cy="{}" r="5"/>').format(css, x, y),
        ]
    return _svg(width, height, title, parts)


def share_chart(
    names: Sequence[str], lines: Sequence[tuple[str, Sequence[float]]], *, title: str, edges: Sequence[str] = ()
) -> Markup:
    """Shares of the same values in several groups of rows, as steps; each with the class that colors it.

    Where the values are bins, their edges are written instead of their names.
    """
    width, height = 400, 200
    top = max(max(shares) for _, shares in lines) or 1.0
    frame = _Frame(width, height, (0.0, float(len(names))), (0.0, 1.08 * top))
    ticks = nice_ticks(0, 1.08 * top, 4)
    parts = [frame.axes([], ticks, "", "share of the rows")]
    for css, shares in lines:
        corners = [frame.at(k + side, share) for k, share in enumerate(shares) for side in (0, 1)]
        path = " ".join(f"{x},{y}" for x, y in corners)
        parts.append(Markup('<polyline class="line {}" points="{}"/>').format(css, path))
    written = _edges(names, edges) if edges else [(k + 0.5, name) for k, name in enumerate(names)]
    fits = max(len(name) for _, name in written) <= _LETTERS // len(written)
    for at, name in written:
        x, y = frame.at(at, 0)
        if fits or edges:
            side = "end" if at == len(names) else "middle"
            parts.append(Markup('<text class="tick {}" x="{}" y="{}">{}</text>').format(side, x, y + 16, name))
        else:
            turned = Markup('<text class="tick end" transform="translate({} {}) rotate(-28)">{}</text>')
            parts.append(turned.format(x + 4, y + 14, cut(name, 13)))
    return _svg(width, height + (0 if fits or edges else _TURNED), title, parts)


def _edges(names: Sequence[str], edges: Sequence[str]) -> list[tuple[float, str]]:
    """Where edges of bins are written: every second one, as the last stands left of its place; and what is missing."""
    written = [(float(k), edge) for k, edge in enumerate(edges)]
    every = 1 if max(map(len, edges)) <= _SHORT else 2
    if len(names) > len(edges) - 1:  # missing values have a bin of their own, narrower than its name
        return [*written[:-every:every], (float(len(names)), names[-1])]
    return written[::every]


def growth_chart(
    bars: Sequence[tuple[str, Sequence[tuple[str, float]]]],
    y_title: str,
    *,
    title: str,
    x_title: str = "",
    frame_size: tuple[int, int] = (640, 240),
) -> Markup:
    """Stacked bars; each is a name and its parts, from the bottom up, as (class of the style sheet, size)."""
    width, height = frame_size
    every = -(-len(bars) // _MAX_NAMES)  # not every bar has room for its name
    top = max(sum(size for _, size in parts) for _, parts in bars) or 1
    frame = _Frame(width, height, (0.0, float(len(bars))), (0.0, 1.08 * top), left=64)
    drawn = [frame.axes([], nice_ticks(0, 1.08 * top), x_title, y_title, plain=True)]
    for i, (name, parts) in enumerate(bars):
        base = 0.0
        for css, size in parts:
            (x0, y1), (x1, y0) = frame.at(i + 0.18, base + size), frame.at(i + 0.82, base)
            if size:
                drawn.append(
                    Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
                        css, x0, y1, round(x1 - x0, 1), round(y0 - y1, 1)
                    )
                )
            base += size
        x, y = frame.at(i + 0.5, 0)
        if i % every == 0:
            drawn.append(Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(x, y + 16, cut(name, 12)))
    return _svg(width, height, title, drawn)


def nice_ticks(low: float, high: float, n: int = 5) -> list[float]:
    """Return round numbers between two limits.

    Examples
    --------
    >>> nice_ticks(0.613, 0.752)
    [0.62, 0.64, 0.66, 0.68, 0.7, 0.72, 0.74]
    """
    span = high - low
    power = 10.0
    while power > span:
        power /= 10
    while power * 10 <= span:
        power *= 10
    step = next(power * m for m in (0.1, 0.2, 0.5, 1, 2, 5) if span / (power * m) <= n + 2)
    first = int(low / step) if low <= 0 else int(low / step) + (1 if low % step else 0)
    ticks = [round((first + i) * step, 10) for i in range(n + 4)]
    return [t for t in ticks if low <= t <= high]


class _Frame:
    """Where numbers lie in a picture."""

    def __init__(
        self, width: int, height: int, x: tuple[float, float], y: tuple[float, float], left: int = _LEFT
    ) -> None:
        self.x, self.y, self.left = x, y, left
        self.right, self.bottom = width - _RIGHT, height - _BOTTOM

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(self.left + across * (self.right - self.left), 1), round(
            self.bottom - up * (self.bottom - _TOP), 1
        )

    def axes(
        self,
        x_ticks: Sequence[float],
        y_ticks: Sequence[float],
        x_title: str,
        y_title: str,
        percent: bool = False,
        plain: bool = False,
    ) -> Markup:
        parts = []
        for t in x_ticks:
            x, _ = self.at(t, self.y[0])
            label = f"{100 * t:.4g} %" if percent else f"{t:.4g}"
            parts.append(
                Markup('<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(x, _TOP, self.bottom)
            )
            parts.append(Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(x, self.bottom + 15, label))
        for t in y_ticks:
            _, y = self.at(self.x[0], t)
            label = f"{t:,.0f}" if plain else f"{t:.4g}"
            parts.append(
                Markup('<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(self.left, self.right, y)
            )
            parts.append(Markup('<text class="tick end" x="{}" y="{}">{}</text>').format(self.left - 6, y + 4, label))
        middle_x, middle_y = (self.left + self.right) / 2, (_TOP + self.bottom) / 2
        parts.append(
            Markup('<text class="title middle" x="{}" y="{}">{}</text>').format(middle_x, self.bottom + 32, x_title)
        )
        if y_title:
            parts.append(
                Markup('<text class="title middle" transform="translate(12 {}) rotate(-90)">{}</text>').format(
                    middle_y, y_title
                )
            )
        return Markup("").join(parts)


def _svg(width: int, height: int, title: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        width, height, escape(title), Markup("").join(parts)
    )
