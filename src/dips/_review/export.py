"""What a review hands out: the corrected table, the decisions, and the trail of all events."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from dips._estimators.reasons import IMAGE
from dips._files.relabel import can_be_relabeled, relabeled
from dips._persistence.export import to_csv
from dips._review.decisions import Answer
from dips._review.desk import Desk
from dips._review.material import CORRECTION, Material
from dips._review.store import KEEP, UNLABELED, Event
from dips._tools.files import make_folder, write_whole
from dips._tools.names import apart_from
from dips._tools.wording import option
from dips.exceptions import OutputError, ReviewError

_TAKEN = (IMAGE, *CORRECTION)


@dataclass(frozen=True)
class Export:
    """One thing that can be exported.

    Attributes
    ----------
    name, title : for machines, for people
    make : gives a file's name and content
    is_possible : whether the material allows it
    """

    name: str
    title: str
    make: Callable[[Desk], tuple[str, bytes]]
    is_possible: Callable[[Material], bool] = lambda material: True


def corrections_frame(desk: Desk) -> pd.DataFrame:
    """What reviewers settled on, one line per row, as ``dips fit --corrections`` reads it.

    What the run itself was made with is part of it, so that a second review does not undo the first.
    """
    m, settled = desk.material, desk.decisions.settled()
    lines = {record["row"]: record for record in m.earlier.to_dict("records")}
    for row, answer in settled.items():
        before = lines[row]["given_label"] if row in lines else m.given.get(row)
        said = {"row": row, "given_label": before, "label": _correction(answer, m.classes)}
        lines[row] = said | {name: getattr(answer.event, name) for name in ("reviewer", "time")}
    rows = sorted(lines)
    frame = pd.DataFrame([lines[row] for row in rows], columns=list(CORRECTION), dtype=object)
    for place, (name, called) in enumerate(apart_from(m.key_names, taken=_TAKEN).items(), start=1):
        frame.insert(place, called, [m.keys[name][row] for row in rows])
    return frame.rename(columns={"row": IMAGE}) if m.unit == IMAGE else frame


def decisions_frame(desk: Desk) -> pd.DataFrame:
    """The last word of every reviewer on every row, beside the label it came with."""
    m = desk.material
    by_row = desk.decisions.by_row()
    records = [_decision_record(m, row, answer) for row, answers in by_row.items() for answer in answers.values()]
    columns = ["row", "key", "given_label", "label", "is_wrong", "suspicion", "p_wrong", *_OF_EVENT]
    return pd.DataFrame(records, columns=columns).sort_values("seq", ignore_index=True)


_OF_EVENT = ("reviewer", "time", "note", "blinded", "seq")


def _decision_record(m: Material, row: int, answer: Answer) -> dict[str, Any]:
    line, event = m.account.iloc[m.position[row]], answer.event
    return {
        "row": row,
        "key": event.key,
        "given_label": m.given[row],
        "label": answer.label,
        "is_wrong": answer.is_wrong,
        "suspicion": line["suspicion"],
        "p_wrong": line["p_wrong"],
        **{name: getattr(event, name) for name in _OF_EVENT},
    }


def trail(events: list[Event]) -> bytes:
    """All events as lines of JSON, undone ones included; each line's hash covers the line before."""
    return "".join(json.dumps(asdict(event), ensure_ascii=False) + "\n" for event in events).encode()


def corrected_files(desk: Desk) -> list[tuple[str, bytes]]:
    """Every labeled file with the labels that were settled on; all else is as it was."""
    m, spelled = desk.material, _spellings(desk.material)
    said = dict(zip(m.earlier["row"], m.earlier["label"], strict=True))
    changes = {row: None if label == UNLABELED else label for row, label in said.items() if label != KEEP}
    changes |= {row: a.label for row, a in desk.decisions.settled().items() if a.is_wrong}
    files = []
    for source, name in zip(m.sources, corrected_names([Path(source.path) for source in m.sources]), strict=True):
        of_file = {
            row - 1 - source.first: None if label is None else spelled.get(label, label)
            for row, label in changes.items()
            if source.first <= row - 1 < source.first + source.n_rows
        }
        content = relabeled(Path(source.path), m.target, of_file, source.sheet, source.skip_rows, source.skip_below)
        files.append((name, content))
    return files


def write_all(desk: Desk, folder: Path, force: bool = False) -> list[Path]:
    """Write everything that can be exported to a folder; return the files. Existing ones are replaced by `force`."""
    made = [export.make(desk) for export in EXPORTS if export.is_possible(desk.material) and export.name != "table"]
    made += corrected_files(desk) if _can_be_corrected(desk.material) else []
    make_folder(folder)
    paths = [folder / name for name, _ in made]
    there = next((path for path in paths if path.exists()), None)
    if there is not None and not force:
        raise OutputError(f"{there} exists already; choose another folder, or replace it with {option('force', True)}.")
    for path, (_, content) in zip(paths, made, strict=True):
        write_whole(path, content)
    return paths


def _correction(answer: Answer, classes: list[str]) -> str:
    if answer.label is None:
        return UNLABELED
    return KEEP if not answer.is_wrong and KEEP not in classes else answer.label


def _spellings(m: Material) -> dict[str, str]:
    """How each class is written in the files, most often; labels that were corrected before are not in them."""
    written: dict[str, Counter[str]] = {}
    corrected = set(m.earlier["row"])
    for row, cell in m.raw_labels.items():
        if row in m.given and row not in corrected:
            written.setdefault(m.given[row], Counter())[str(cell).strip()] += 1
    return {label: counts.most_common(1)[0][0] for label, counts in written.items()}


def corrected_names(paths: list[Path]) -> list[str]:
    """What the corrected files are called: by their folders, too, where several have one name, and else by a number.

    Examples
    --------
    >>> corrected_names([Path("a/data.csv"), Path("b/data.csv"), Path("b/more.csv.gz")])
    ['a_data_corrected.csv', 'b_data_corrected.csv', 'more_corrected.csv.gz']
    """
    counts = Counter(path.name.lower() for path in paths)  # some file systems take capitals for small letters
    names: list[str] = []
    for path in paths:
        stem, _, suffixes = path.name.partition(".")
        if counts[path.name.lower()] > 1 and (folder := path.parent.resolve().name):
            stem = f"{folder}_{stem}"
        called, taken = f"{stem}_corrected.{suffixes}", {name.lower() for name in names}
        for n in count(2):
            if called.lower() not in taken:
                break
            called = f"{stem}_corrected_{n}.{suffixes}"
        names.append(called)
    return names


def _can_be_corrected(m: Material) -> bool:
    """Whether the files of the run are at hand, in formats that labels can be written into."""
    return bool(m.sources) and all(can_be_relabeled(source.path) for source in m.sources)


def _table(desk: Desk) -> tuple[str, bytes]:
    if not _can_be_corrected(desk.material):
        raise ReviewError(
            "The table of this run is not available, or labels cannot be written into its format; correct it with the "
            "file of corrections."
        )
    files = corrected_files(desk)
    if len(files) == 1:
        return files[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return "corrected.zip", out.getvalue()


def _parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.astype({"label": "string", "given_label": "string", "note": "string"}).to_parquet(out, index=False)
    return out.getvalue()


EXPORTS = (
    Export("corrections", "Corrections, for dips fit --corrections (CSV)",
           lambda desk: ("corrections.csv", to_csv(corrections_frame(desk)).encode())),
    Export("table", "The corrected table, in its own format", _table, _can_be_corrected),
    Export("decisions_csv", "Every reviewer's decisions (CSV)",
           lambda desk: ("decisions.csv", to_csv(decisions_frame(desk)).encode())),
    Export("decisions_parquet", "Every reviewer's decisions (Parquet)",
           lambda desk: ("decisions.parquet", _parquet(decisions_frame(desk)))),
    Export("trail", "The trail of all events, undone ones too (JSON lines)",
           lambda desk: ("trail.jsonl", trail(desk.store.events()))),
)  # fmt: skip
