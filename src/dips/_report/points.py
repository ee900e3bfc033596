"""The map: labels with their confidence and uncertainty, learning curves and values; a sample where there are many."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dips._estimators.reasons import how_learned, said_first
from dips._files.censored import signs
from dips._files.columns import Column, named_sides
from dips._files.read import Table
from dips._files.row_keys import key_columns
from dips._files.values import MISSING, is_text, texts
from dips._report.findings import TableFindings
from dips._tools.arrays import Array, Rows
from dips._tools.wording import cut
from dips.backbones import find_backbone

_MAX_POINTS, _MAX_SUSPECTS = 2_500, 1_000
_SHARE_GIVEN = 0.6  # of the points that are not suspects, where both kinds exceed what can be drawn
_MAX_VALUES = 12  # columns shown beside a row
_BYTES = 330_000  # what the map may take of the page
_CURVE = 24  # points of a learning curve
_MAX_CURVES = 50_000  # kept beside the page, for a review
_GRID = (48, 60)  # cells of uncertainty and of confidence
_TEXT = 60  # characters shown of a value


def summarize_points(findings: TableFindings) -> dict[str, Any]:
    """Return the map of a table's rows as columns of numbers."""
    shown, classes = _shown_columns(findings), findings.target.classes
    typical = _typical(findings, shown)

    def beside(rows: Rows) -> dict[str, Any]:
        codes = codes_of(findings.account["final_label"].iloc[rows], classes)
        return {
            "id": _ids(findings, rows),
            "id_names": findings.ids,
            **packed_curves(_curves(findings, rows, codes)),
            "n_checkpoints": _n_checkpoints(findings),
            "values": [_values(findings, column, rows) for column in shown],
            "typical": typical,
        }

    about_all = {
        "all_in": "samples.csv" if findings.model is not None else "the file that dips audit -o writes",
        "thresholds": thresholds_of(findings.judge.curator_),
        "curator": findings.judge.curator_.name,
    }
    return about_all | points_of(findings.account, classes, beside, _BYTES)


def points_of(
    account: pd.DataFrame, classes: list[Any], beside: Callable[[Rows], dict[str, Any]], n_bytes: int
) -> dict[str, Any]:
    """Return the judged labels of an account as columns of numbers, with what is shown beside each.

    Parameters
    ----------
    account : data frame, one row per row or image
    beside : gives what is shown of some rows
    n_bytes : fewer points are drawn where they would take more
    """
    placed = placed_on_map(account)
    judged = np.flatnonzero(placed["height"].notna())
    n_points = _MAX_POINTS
    while True:
        rows = _sample(account, judged, n_points)
        points = _labels(account, placed, judged, rows, classes) | beside(rows)
        size = len(json.dumps(points))
        if size <= n_bytes or n_points <= 200:
            return points
        n_points = max(200, int(0.9 * n_points * n_bytes / size))


def placed_on_map(account: pd.DataFrame) -> pd.DataFrame:
    """Where each label lies on the map: by how it was learned, or if that was not watched, by what is believed."""
    if account["confidence"].notna().any() or "p_wrong" not in account:
        return pd.DataFrame({"height": account["confidence"], "across": account["aleatoric"]})
    unseen = account["out_of_fold"]
    return pd.DataFrame({"height": 1 - account["p_wrong"], "across": unseen * (1 - unseen)})


def _labels(
    account: pd.DataFrame, placed: pd.DataFrame, judged: Rows, rows: Rows, classes: list[Any]
) -> dict[str, Any]:
    part, at = account.iloc[rows], placed.iloc[rows]
    p_wrong = part["p_wrong"] if "p_wrong" in part else pd.Series(np.nan, part.index)
    return {
        "watched": bool(account["confidence"].notna().any()),
        "n_judged": int(judged.size),
        "n_suspects_all": int(account["suspicion"].notna().sum()),
        "row": part["row"].tolist(),
        "confidence": _thousandths(at["height"]),
        "aleatoric": _thousandths(at["across"]),
        "wrong": thousandths_of_percents(p_wrong.fillna(-1)),
        "unseen": thousandths_of_percents(part["out_of_fold"].fillna(-1)),
        "label": codes_of(part["final_label"], classes).tolist(),
        "suggested": codes_of(part["suggested_label"], classes).tolist(),
        "useful": part["useful"].astype(int).tolist(),
        "round": part["round"].tolist(),
        "rank": part["suspicion"].fillna(0).astype(int).tolist(),
        "learned": how_learned(at["height"].to_numpy()).tolist(),
        "said_first": _said_first(part, p_wrong) if "reason" in part else {},
        "grid": None if judged.size <= rows.size else _grid(placed.iloc[judged]),
    }


def _said_first(part: pd.DataFrame, p_wrong: pd.Series) -> dict[int, str]:
    """What the reasons say before they come to models, by position; most say nothing."""
    said = map(said_first, part["reason"], part["confidence"], p_wrong)
    return {i: words for i, words in enumerate(said) if words}


def _sample(account: pd.DataFrame, judged: Rows, n_points: int) -> Rows:
    """Suspects first, those to look at first before others; the rest at random, with one seed."""
    ranks = account["suspicion"].fillna(0).to_numpy(dtype=int)[judged]
    suspects = judged[ranks > 0][np.argsort(ranks[ranks > 0])][: min(_MAX_SUSPECTS, n_points // 2)]
    rng, left = np.random.RandomState(0), n_points - suspects.size
    is_given = (account["source"] == "given").to_numpy()[judged]
    given, pseudo = (rng.permutation(judged[(ranks == 0) & mask]) for mask in (is_given, ~is_given))
    n_given = min(given.size, max(int(_SHARE_GIVEN * left), left - pseudo.size))
    return np.concatenate([suspects, np.sort(given[:n_given]), np.sort(pseudo[: left - n_given])])


def codes_of(labels: pd.Series, classes: list[Any]) -> Array:
    """Positions of labels among the classes, -1 where there is none."""
    return pd.Index(classes).get_indexer(labels)


def _thousandths(values: pd.Series) -> list[int]:
    return (1000 * values).round().astype(int).tolist()


def thousandths_of_percents(shares: pd.Series) -> list[int]:
    """Thousandths that round to the same percent as the shares themselves, which other pages and files tell.

    Examples
    --------
    >>> thousandths_of_percents(pd.Series([0.7146, 0.715, 0.7154]))
    [714, 715, 715]
    """
    nearest, percents = (1000 * shares).round(), np.floor(100 * shares + 0.5)
    return nearest.clip(10 * percents - 5, 10 * percents + 4).astype(int).tolist()


def _bytes(values: Array) -> str:
    return base64.b64encode(np.clip(values, 0, 255).astype(np.uint8).tobytes()).decode()


def packed_curves(curves: Array | None) -> dict[str, Any]:
    """Probabilities (n, points) as bytes, for the page."""
    if curves is None:
        return {"curves": None, "n_curve": 0}
    return {"curves": _bytes(np.round(curves * 255)), "n_curve": int(curves.shape[1])}


def _curves(findings: TableFindings, rows: Rows, codes: Array) -> Array | None:
    """Probability of each row's label along the training that its confidence was measured in, (n, points).

    A given label's is that of the model it was watched in; a pseudo-label's is that of the chosen model.
    """
    is_given = findings.target.is_labeled[rows]
    replayed = []
    for model, mask in ((findings.watched, is_given), (findings.model, ~is_given)):
        if mask.any():
            fitted, X = model.estimator_, findings.X[rows[mask]]
            replayed.append((mask, find_backbone(fitted).curves(fitted, X, codes[mask], _CURVE)))
    if not replayed or any(curve is None for _, curve in replayed):
        return None
    n_points = min(curve.shape[1] for _, curve in replayed if curve is not None)
    curves = np.empty((rows.size, n_points))
    for mask, curve in replayed:
        assert curve is not None
        curves[mask] = curve[:, :n_points]
    return curves


def more_curves(findings: TableFindings, on_page: list[int]) -> pd.DataFrame | None:
    """Return learning curves of given labels that the page does not show, suspects first; None where there are none.

    One line for each row: its number, and the probability of its label at points of the training, 255 for 1.
    """
    account = findings.account
    is_given = (account["source"] == "given").to_numpy() & account["confidence"].notna().to_numpy()
    rows = np.flatnonzero(is_given & ~np.isin(account["row"].to_numpy(), on_page))
    rows = rows[np.argsort(account["suspicion"].isna().to_numpy()[rows], kind="stable")][:_MAX_CURVES]
    codes = codes_of(account["final_label"].iloc[rows], findings.target.classes)
    curves = _curves(findings, rows, codes) if rows.size else None
    if curves is None:
        return None
    points = {f"p{k}": column for k, column in enumerate(np.round(255 * curves).astype(np.uint8).T)}
    return pd.DataFrame({"row": account["row"].to_numpy()[rows], **points})


def _n_checkpoints(findings: TableFindings) -> int:
    fitted = findings.watched.estimator_
    return find_backbone(fitted).n_checkpoints(fitted, findings.X[:1])


def _shown_columns(findings: TableFindings) -> list[Column]:
    by_name = {c.name: c for c in findings.schema.used}
    names = [n for n in findings.importance if n in by_name] or list(by_name)
    return [by_name[n] for n in names[:_MAX_VALUES]]


def _ids(findings: TableFindings, rows: Rows) -> list[str]:
    if not findings.ids:
        return []
    taken = Table(findings.table.columns.select(findings.ids).take(pa.array(rows)), findings.table.source)
    keys = key_columns(taken, keep=MISSING)  # as corrections that the page saves are read back
    columns = [keys[name] if name in keys else taken.columns[name].to_pylist() for name in findings.ids]
    return [" · ".join(short(cell) for cell in cells) for cells in zip(*columns, strict=True)]


def _values(findings: TableFindings, column: Column, rows: Rows) -> dict[str, Any]:
    """Values of one column as positions among the distinct ones."""
    raw = findings.table.columns[column.name].take(pa.array(rows))
    cells = in_short(column, raw)
    codes, distinct = pd.factorize(np.asarray(cells, dtype=object))
    return {"name": column.name, "kind": column.kind, "distinct": list(distinct), "codes": codes.tolist()}


def readable(column: Column, raw: pa.ChunkedArray) -> list[Any]:
    """Cells as values for people; None where missing."""
    values = column.values(raw)
    if column.kind == "number":
        return [None if np.isnan(v) else v for v in values]
    if column.kind == "pair":
        return [None if np.isnan(first) else f"{short(first)}/{short(second)}" for first, second in values.tolist()]
    if column.kind == "date":
        has_time = bool((values.dropna().dt.normalize() != values.dropna()).any())
        return [None if pd.isna(v) else _day(v, has_time) for v in values]
    return values.to_pylist()


def _day(moment: pd.Timestamp, with_time: bool = False) -> str:
    """A day, with the minute if that is asked for; also after the year 9999, of which strftime knows nothing."""
    day, time = moment.isoformat(" ").split(" ")
    return f"{day} {time[:5]}" if with_time else day


def sides(column: Column, raw: pa.ChunkedArray) -> list[tuple[str, str, list[Any]]]:
    """Name, kind and readable cells of a column; of two numbers in a cell, of each by itself."""
    if column.kind != "pair":
        return [(column.name, column.kind, readable(column, raw))]
    named = named_sides(column, column.values(raw))
    return [(name, "number", [None if np.isnan(v) else v for v in values]) for name, values in named]


def in_short(column: Column, raw: pa.ChunkedArray, length: int = _TEXT) -> list[str]:
    """Cells cut to what fits; limits such as <5 keep their sign, and what was not read is shown as it is written."""
    cells = [short(value, length) for value in readable(column, raw)]
    if column.kind not in ("number", "pair", "date") or not is_text(raw.type):
        return cells
    written = texts(raw)
    marks = signs(written) if column.kind == "number" else [""] * len(cells)
    as_it_is = [short(cell, length) for cell in written.to_pylist()]
    return [sign + cell if cell else other for sign, cell, other in zip(marks, cells, as_it_is, strict=True)]


def short(value: Any, length: int = _TEXT) -> str:
    """One value, cut to what fits a cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        is_whole = abs(value) < 1e12 and (abs(value) >= 1e4 or value == round(value))
        return f"{value:.0f}" if is_whole else f"{value:.5g}"
    return cut(value, length)


def _typical(findings: TableFindings, shown: list[Column]) -> list[list[str]]:
    """For each class and column, the middle number or the most frequent category among useful labels."""
    is_useful = (findings.account["useful"] & (findings.account["source"] == "given")).to_numpy()
    codes, typical = findings.target.codes, []
    for c in range(len(findings.target.classes)):
        rows = np.flatnonzero(is_useful & (codes == c))[:5_000]
        typical.append([middle(col, findings.table.columns[col.name].take(pa.array(rows))) for col in shown])
    return typical


def middle(column: Column, raw: pa.ChunkedArray) -> str:
    values = column.values(raw)
    if column.kind == "number":
        known = values[np.isfinite(values)]
        return short(float(np.median(known))) if known.size else ""
    if column.kind == "pair":
        known = values[np.isfinite(values[:, 0])]
        return "/".join(short(float(side)) for side in np.median(known, axis=0)) if len(known) else ""
    if column.kind == "date":
        known = values.dropna()
        return _day(known.sort_values().iloc[known.size // 2]) if known.size else ""
    if column.kind == "text":
        return ""
    counts = values.drop_null().value_counts()
    if len(counts) == 0:
        return ""
    return short(counts.field("values")[int(np.argmax(counts.field("counts").to_numpy()))].as_py())


def _grid(part: pd.DataFrame) -> dict[str, Any]:
    """How many of all judged rows lie where, on a logarithmic scale of 0 to 255."""
    counts, _, _ = np.histogram2d(part["across"], part["height"], bins=_GRID, range=[[0, 0.25], [0, 1]])
    scaled = np.log1p(counts) / np.log1p(max(counts.max(), 1))
    return {"shape": list(_GRID), "counts": _bytes(np.round(255 * scaled))}


def thresholds_of(curator: Any) -> dict[str, float]:
    """The lines that the curator drew, where it draws any."""
    thresholds = {"confidence": getattr(curator, "conf", None), "aleatoric": getattr(curator, "aleatoric_", None)}
    return {k: float(v) for k, v in thresholds.items() if v is not None}
