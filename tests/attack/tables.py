"""Hostile tables: odd values, odd types, broken bytes, in every format that is read."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from dips._files import Preparation
from dips._study.data import read_data
from dips._study.settings import Settings
from dips.exceptions import DipsError
from tests.attack.outcomes import CLEAN, DIFFERENT, REFUSED, TRACEBACK

_CELLS = (
    "", " ", "NA", "?", "-", "nan", "inf", "-inf", "1e308", "1e-400", "9" * 30, "0x10", "1_000", "١٢", "1,5", "1.234,5",
    "=1+1", "@x", "\t", "\n", '"', "'", ",", ";", "\u202e", "\ufeff", "😀", "é", "a" * 3_000, "0000-00-00",
    "9999-12-31", "2024-02-30", "31/12/2024", "12345-01-01", "-0", "+5", "007", "true", "<script>", "[red]",
    "\x1b[31m", "$(x)", "%s",
)  # fmt: skip
_NAMES = ("", " ", "outcome", "row", "a", "a", "=x", "predicted_outcome", "x" * 300, "\u202e", "b\nc", "<b>", "1")
_KINDS = ("csv", "tsv", "parquet", "feather", "csv.gz", "csv.zip", "xlsx")
_ARROW_TYPES = (
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.bool_(), pa.string(), pa.large_string(), pa.string_view(),
    pa.binary(), pa.date32(), pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.time32("s"), pa.duration("ms"),
    pa.null(), pa.list_(pa.int8()), pa.decimal128(38, 5), pa.struct([("a", pa.int8())]),
)  # fmt: skip


def attack(place: Path, seed: int) -> str:
    """Write a hostile table and read it as a study does; what comes out must fit what went in."""
    rng = random.Random(seed)
    path = place / f"table.{rng.choices(_KINDS, (8, 2, 4, 2, 2, 2, 1))[0]}"
    table = _table(rng, is_text="parquet" not in path.name and "feather" not in path.name)
    path.write_bytes(_damaged(_written(table, path.name, rng), rng))
    try:
        study = read_data(path, Settings(target="outcome", keep_label=("NA",) if rng.random() < 0.2 else ()))
        X = Preparation(study.schema).learn(study.table).encode(study.table)
    except DipsError as error:
        return REFUSED if "\n" not in str(error) else TRACEBACK
    labels = study.target.names(study.target.codes)
    is_right = X.shape[0] == study.table.n_rows == len(labels) and not np.isinf(X).any()
    return CLEAN if is_right and len(study.target.classes) >= 2 else DIFFERENT


def _table(rng: random.Random, is_text: bool) -> pa.Table:
    n = rng.choice((12, 30, 60))
    names, columns = ["outcome"], [_labels(rng, n)]
    for _ in range(rng.randrange(1, 6)):
        names.append(rng.choice(_NAMES) if rng.random() < 0.3 else f"column {len(names)}")
        columns.append(pa.array(_cells(rng, n)) if is_text or rng.random() < 0.4 else _typed(rng, n))
    return pa.table(columns, names=names)


def _labels(rng: random.Random, n: int) -> pa.Array:
    kinds = (
        ["no", "yes"], ["no", "yes", None], ["NA", "EU"], [0, 1], [0, 1, None], [1.5, 2.0], [True, False], ["-", "?"],
        [2**63 - 1, 2**63 - 2], ["1.0", "2"], [float("inf"), 1.0], list(_CELLS), ["a"], [None], ["=1", "+2"],
    )  # fmt: skip
    values = rng.choice(kinds)
    return pa.array([values[i % len(values)] if rng.random() < 0.95 else rng.choice(values) for i in range(n)])


def _cells(rng: random.Random, n: int) -> list[str | None]:
    kind = rng.random()
    if kind < 0.3:
        return [rng.choice(_CELLS) for _ in range(n)]
    if kind < 0.5:
        few = rng.sample(_CELLS, 3)
        return [rng.choice(few) for _ in range(n)]
    plain = [f"{rng.gauss(0, 1):.3f}" if kind < 0.75 else f"2024-{rng.randrange(1, 13):02d}-11" for _ in range(n)]
    return [rng.choice(_CELLS) if rng.random() < 0.03 else value for value in plain]


def _typed(rng: random.Random, n: int) -> pa.Array:
    """Draw a column of any type, from any bits where the type allows that."""
    kind = rng.choice(_ARROW_TYPES)
    try:
        array = pa.array([rng.choice((None, 0, 1, rng.getrandbits(30), -rng.getrandbits(60))) for _ in range(n)])
        array = array.cast(kind, safe=False)
    except (pa.ArrowException, OverflowError):
        array = pa.nulls(n, kind)
    if rng.random() < 0.2 and not pa.types.is_nested(kind) and kind not in (pa.null(), pa.string_view(), pa.float16()):
        array = array.dictionary_encode()
    return array


def _written(table: pa.Table, name: str, rng: random.Random) -> bytes:
    stream = io.BytesIO()
    if name.endswith("parquet"):
        try:
            pyarrow.parquet.write_table(table, stream)
        except pa.ArrowException:  # a type that this format lacks
            return b"PAR1"
    elif name.endswith("feather"):
        pyarrow.feather.write_feather(table.select(sorted(set(range(table.num_columns)))), stream)
    else:
        frame = table.to_pandas()
        frame.columns = table.column_names
        if name.endswith("xlsx"):
            frame.map(_without_controls).to_excel(stream, index=False)
            return stream.getvalue()
        separator = "\t" if name.endswith("tsv") else rng.choice(",;|\t")
        encoding = rng.choice(("utf-8", "utf-8-sig", "utf-16", "latin-1"))
        text = frame.to_csv(index=False, sep=separator).encode(encoding, "replace")
        if name.endswith("gz"):
            return gzip.compress(text)
        if name.endswith("zip"):
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("table.csv", text)
            return stream.getvalue()
        return text
    return stream.getvalue()


def _without_controls(value: object) -> object:
    return "".join(c for c in value if c >= " " or c in "\n\t") if isinstance(value, str) else value


def _damaged(content: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.5 or not content:
        return content
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(changed))
        kind = rng.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at:at] = rng.choice((b"\0", b"\xff\xfe", b'"', b"\r", b"\n", b"," * 50, rng.randbytes(8)))
        elif kind == 2 and len(changed) > 40:
            del changed[at : at + rng.randrange(1, 40)]
        else:
            changed[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"))
    return bytes(changed)
