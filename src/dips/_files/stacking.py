"""Several files as one table: they may store a column as different types, or write its numbers in different ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from dips._files.decimals import are_doubtful, certain_mark
from dips._files.numbers import STYLES, TIMES, NumberStyle, find_number_style, numbers
from dips._files.values import as_text, is_number, is_text, texts


@dataclass(frozen=True)
class _Piece:
    """The numbers of a column in one file.

    Attributes
    ----------
    cells : as the file has them
    style : in which they are read
    mark : the decimal mark that they are sure to have; empty where they have none, or it is in doubt
    is_doubtful : whether they may be meant otherwise, such as 4.129
    """

    cells: pa.ChunkedArray
    style: NumberStyle = STYLES[0]
    mark: str = ""
    is_doubtful: bool = False

    @classmethod
    def of(cls, cells: pa.ChunkedArray) -> _Piece | None:
        """Find out how cells are written; None where they are not numbers."""
        if not is_text(cells.type):
            return cls(cells) if is_number(cells.type) or cells.type == pa.null() else None
        written = texts(cells)
        if written.null_count == len(written):
            return cls(cells)
        style = find_number_style(written)
        if style is None or style == TIMES:
            return None
        return cls(cells, style, certain_mark(written, style), are_doubtful(written, style))

    def settled(self, mark: str) -> _Piece:
        """Return the same with this decimal mark, where it is in doubt."""
        if not (self.is_doubtful and mark) or self.mark:
            return self
        style = NumberStyle(",", True, self.style.unit) if mark == "," else self.style
        return replace(self, style=style, mark=mark)

    @property
    def mark_as_text(self) -> str:
        """The decimal mark of the cells if they become texts: what a file stores as fractions gets a point."""
        return "." if pa.types.is_floating(self.cells.type) else self.mark


def stack(tables: Sequence[pa.Table], as_written: str | None = None) -> tuple[pa.Table, list[str]]:
    """Put tables with the same columns under each other; return also the columns of which each was read in its own way.

    Numbers with decimal points in one file and decimal commas in another become floats, except in the column that is
    wanted as it is written. Where 4.129 may be four thousand, the other columns of its file tell, or else the same
    column of the other files. Otherwise, columns of different types become text.

    Examples
    --------
    >>> table, in_own_way = stack([pa.table({"x": ["1.5", "2"]}), pa.table({"x": ["2,25", None]})])
    >>> table["x"].to_pylist(), in_own_way
    ([1.5, 2.0, 2.25, None], ['x'])
    """
    names = tables[0].column_names
    pieces = {name: [_Piece.of(table[name]) for table in tables] for name in names if name != as_written}
    marks = [_mark_of(of_file) for of_file in zip(*pieces.values(), strict=True)]
    styles = {name: _different_styles(of_column, marks) for name, of_column in pieces.items()}
    columns = [_column([table[name] for table in tables], styles.get(name)) for name in names]
    return pa.table(columns, names=names), [name for name in names if styles.get(name)]


def _column(pieces: list[pa.ChunkedArray], styles: list[NumberStyle] | None) -> pa.ChunkedArray:
    if styles is not None:
        read = [numbers(piece, style) for piece, style in zip(pieces, styles, strict=True)]
        return pa.chunked_array([pa.array(values, from_pandas=True) for values in read])
    if len({p.type for p in pieces if p.type != pa.null()}) > 1:
        pieces = [as_text(p) for p in pieces]
    kind = next((p.type for p in pieces if p.type != pa.null()), pa.null())
    return pa.chunked_array([c for p in pieces for c in p.cast(kind).chunks], type=kind)


def _mark_of(file: Sequence[_Piece | None]) -> str:
    """Return the decimal mark of a file's numbers; empty where none is sure, or columns differ."""
    shown = {piece.mark for piece in file if piece is not None} - {""}
    return shown.pop() if len(shown) == 1 else ""


def _different_styles(pieces: Sequence[_Piece | None], marks: Sequence[str]) -> list[NumberStyle] | None:
    """Return how each file, with its decimal mark, writes a column; None where one way reads all, or none does."""
    numeric = [piece for piece in pieces if piece is not None]
    if len(numeric) < len(pieces) or not any(is_text(piece.cells.type) for piece in numeric):
        return None
    told = [piece.settled(mark) for piece, mark in zip(numeric, marks, strict=True)]
    told = [piece.settled(_mark_of(told)) for piece in told]
    are_written_alike = len({piece.mark_as_text for piece in told} - {""}) < 2
    is_in_doubt_again = any(piece.is_doubtful for piece in told) and len({*marks} - {""}) > 1
    if are_written_alike and not is_in_doubt_again:  # as texts of one table
        return None
    is_one_unit = len({piece.style.unit for piece in told} - {""}) <= 1
    return [piece.style for piece in told] if is_one_unit else None
