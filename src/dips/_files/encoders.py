"""One encoder per kind of column: values to floats, learned once, stored as plain data and arrays.

Nothing here needs pickle: an encoder is its ``settings`` (JSON) and its ``arrays`` (NumPy), and is made from both.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from dips._files.pairs import SIDES
from dips._tools.arrays import Array

ONE_COLUMN_EACH = 12  # categories; of more, only the rank is given
_NAMES = 40  # categories; where there are more, their spelling is looked at too
_RANKED = 1_000  # the most frequent categories that get a rank of their own
BUCKETS = 4_096  # of hashed pieces of text
_MANY_UNKNOWN, _MANY_OUTSIDE = 0.05, 0.2  # cells of a new table, categories and numbers, that training did not see
_LEARN_ROWS = 20_000  # a sample is enough to know which pieces are frequent


class Encoder:
    """Values of one column to an (n, k) matrix of floats; NaN is missing."""

    kind: ClassVar[str]

    def __init__(self, settings: dict[str, Any] | None = None, arrays: dict[str, Array] | None = None) -> None:
        self.settings = settings or {}
        self.arrays = arrays or {}

    def learn(self, values: Any) -> None:
        """Look at the values of the rows to learn from."""

    def encode(self, values: Any) -> Array:
        """Return the floats."""
        raise NotImplementedError

    @property
    def parts(self) -> list[str]:
        """Names of the k floats, to follow the column's own; empty for a single one."""
        return [""]

    @property
    def spans(self) -> list[tuple[int, bool]]:
        """The same floats by what they tell together: how many, and whether they are the levels of a category."""
        return [(1, False) for _ in self.parts]

    def unfamiliar(self, values: Any) -> str:
        """Say how many of the values are not like those of training, where these are many."""
        return ""


class Number(Encoder):
    """Numbers as they are."""

    kind = "number"

    def learn(self, values: Any) -> None:
        """Find the lowest and the highest, to tell whether other numbers are like these."""
        known = values[np.isfinite(values)]
        if known.size:
            self.settings["range"] = [float(known.min()), float(known.max())]

    def encode(self, values: Any) -> Array:
        """One float; one that is too large for it becomes infinite, which the preparation refuses by name."""
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float32)[:, None]

    def unfamiliar(self, values: Any) -> str:
        """Say where numbers lie outside those of training, as with another unit."""
        known = values[np.isfinite(values)]
        if not known.size or "range" not in self.settings:
            return ""
        low, high = self.settings["range"]
        share = float(((known < low) | (known > high)).mean())
        if share <= _MANY_OUTSIDE:
            return ""
        return f"{100 * share:.0f} % of its numbers lie outside those of training, {low:g} to {high:g}"


class Pair(Encoder):
    """Two numbers, each as it is."""

    kind = "pair"

    def learn(self, values: Any) -> None:
        """Find the lowest and the highest on either side."""
        known = values[np.isfinite(values).all(axis=1)]
        if len(known):
            self.settings["ranges"] = [[float(side.min()), float(side.max())] for side in known.T]

    def encode(self, values: Any) -> Array:
        """Two floats."""
        return np.asarray(values, dtype=np.float32)

    @property
    def parts(self) -> list[str]:
        """Which of the two."""
        return list(SIDES)

    def unfamiliar(self, values: Any) -> str:
        """Say where either number lies outside those of training."""
        ranges = self.settings.get("ranges") or [None, None]
        sides = [Number({"range": ends} if ends else {}) for ends in ranges]
        said = [number.unfamiliar(each) for number, each in zip(sides, values.T, strict=True)]
        return "; ".join(f"{side} number: {each}" for side, each in zip(SIDES, said, strict=True) if each)


class Date(Encoder):
    """Days since 1970, and the parts that repeat: month, weekday, hour."""

    kind = "date"

    def learn(self, values: Any) -> None:
        """Keep the parts that differ between rows; the day always."""
        table = self._all(values)
        varies = {p: np.unique(c[np.isfinite(c)]).size > 1 for p, c in table.items()}
        self.settings["parts"] = ["day", *(p for p in table if p != "day" and varies[p])]

    def encode(self, values: Any) -> Array:
        """One float per part."""
        table = self._all(values)
        return np.column_stack([table[p] for p in self.settings["parts"]]).astype(np.float32)

    @property
    def parts(self) -> list[str]:
        """Names of the parts."""
        return list(self.settings["parts"])

    def _all(self, values: pd.Series) -> dict[str, Array]:
        times = values.to_numpy().astype("datetime64[us]")  # nanoseconds end in 2262, and people write 9999-12-31
        day = pd.Series(np.where(np.isnat(times), np.nan, times.astype(np.int64) / 86_400e6))
        parts = {"day": day, "month": values.dt.month, "weekday": values.dt.day_of_week, "hour": values.dt.hour}
        return {name: part.to_numpy(np.float64, na_value=np.nan) for name, part in parts.items()}


class Category(Encoder):
    """One column per category where they are few; for more, the rank by frequency, and for very many also the spelling.

    Two categories are one column of 1 and 0, with NaN for what is missing or neither.
    """

    kind = "category"

    def learn(self, values: Any) -> None:
        """Find the categories, most frequent first."""
        counts = values.drop_null().value_counts()
        names, n = counts.field("values").to_pylist(), counts.field("counts").to_numpy()
        order = sorted(range(len(names)), key=lambda i: (-n[i], names[i]))
        self.settings["categories"] = [names[i] for i in order[:_RANKED]]
        if len(names) > _NAMES:
            spelling = Spelling()
            spelling.learn(pa.chunked_array([pa.array([names[i] for i in order], pa.string())]))
            self.settings["spelling"], self.arrays = spelling.settings, spelling.arrays

    def encode(self, values: Any) -> Array:
        """A category never seen is none of them: zeros in the columns, and no rank."""
        ranks = pc.index_in(values, pa.array(self.settings["categories"], pa.string()))
        codes = ranks.to_numpy().astype(np.float64)  # NaN for those not known
        if self._is_short:
            if self._is_pair:
                return (1 - codes)[:, None].astype(np.float32)
            return (codes[:, None] == np.arange(len(self.settings["categories"]))).astype(np.float32)
        encoded = codes[:, None].astype(np.float32)
        if "spelling" in self.settings:
            return np.hstack([encoded, Spelling(self.settings["spelling"], self.arrays).encode(values)])
        return encoded

    @property
    def parts(self) -> list[str]:
        """Names of the categories, or of the rank and the directions of spelling."""
        if self._is_short:
            categories = [f"={c}" for c in self.settings["categories"]]
            return categories[:1] if self._is_pair else categories
        spelling = Spelling(self.settings["spelling"], self.arrays).parts if "spelling" in self.settings else []
        return ["rank", *spelling]

    @property
    def spans(self) -> list[tuple[int, bool]]:
        """The columns of one category each are a single span of levels; ranks are levels too."""
        n_parts = len(self.parts)
        return [(n_parts, True)] if self._is_short else [(1, True), *((1, False) for _ in range(n_parts - 1))]

    def unfamiliar(self, values: Any) -> str:
        """Say where categories were never seen; unknown where only the most frequent of many were kept."""
        known = values.drop_null()
        if len(known) == 0 or len(self.settings["categories"]) >= _RANKED:
            return ""
        new = known.filter(pc.invert(pc.is_in(known, pa.array(self.settings["categories"], pa.string()))))
        share = len(new) / len(known)
        if share <= _MANY_UNKNOWN:
            return ""
        return f"{100 * share:.0f} % of its cells hold categories not seen in training, such as {new[0].as_py()[:40]!r}"

    @property
    def _is_short(self) -> bool:
        return 0 < len(self.settings["categories"]) <= ONE_COLUMN_EACH  # with none, the rank is missing everywhere

    @property
    def _is_pair(self) -> bool:
        return len(self.settings["categories"]) == 2


class Spelling(Encoder):
    """Texts by the pieces they are made of: hashed runs of letters, weighed by rarity, a few directions of most spread.

    Near texts get near numbers, so a misspelled category is close to the right one.
    """

    kind = "text"
    _n_directions = 10

    def learn(self, values: Any) -> None:
        """Find out how rare each piece is, and the directions in which texts differ most."""
        rng = np.random.RandomState(0)
        known = values.drop_null()
        if len(known) == 0:  # as in a column that is nearly empty: then no text is told from another
            self.arrays = {"rarity": np.ones(BUCKETS, np.float32), "directions": np.zeros((1, BUCKETS), np.float32)}
            return
        rows = rng.permutation(len(known))[:_LEARN_ROWS]
        counts = _pieces(known.take(pa.array(np.sort(rows))))
        n_texts, n_with = counts.shape[0], np.bincount(counts.indices, minlength=BUCKETS)
        rarity = (np.log((1 + n_texts) / (1 + n_with)) + 1).astype(np.float32)
        weighed = normalize(counts.multiply(rarity).tocsr())
        n_directions = max(1, min(self._n_directions, n_texts - 1))
        with np.errstate(invalid="ignore"):  # texts that are all alike have no spread to explain
            svd = TruncatedSVD(n_directions, random_state=0).fit(weighed)
        self.arrays = {"rarity": rarity, "directions": svd.components_.astype(np.float32)}

    def encode(self, values: Any) -> Array:
        """One float per direction; each distinct text is encoded once."""
        codes, distinct = pd.factorize(np.asarray(values.to_pandas(), dtype=object))
        encoded = np.full((len(distinct) + 1, self.arrays["directions"].shape[0]), np.nan, dtype=np.float32)
        if len(distinct):
            weighed = normalize(_pieces(distinct).multiply(self.arrays["rarity"]).tocsr())
            encoded[:-1] = weighed @ self.arrays["directions"].T
        return encoded[codes]  # a missing text is found at -1, the last

    @property
    def parts(self) -> list[str]:
        """Directions have no names, only numbers."""
        return [f"text {i + 1}" for i in range(self.arrays["directions"].shape[0])]


class Text(Spelling):
    """Free text: as spelling, with more directions, and the length."""

    kind = "text"
    _n_directions = 30

    def encode(self, values: Any) -> Array:
        """Directions and length."""
        length = pc.utf8_length(values).to_numpy().astype(np.float32)
        return np.column_stack([super().encode(values), length])

    @property
    def parts(self) -> list[str]:
        """Directions and length."""
        return [*super().parts, "length"]


def _pieces(texts: Any) -> Any:
    """Count hashed runs of two to four letters, within words; sparse (n, buckets)."""
    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), n_features=BUCKETS, norm=None, alternate_sign=False, dtype=np.float32
    )
    return vectorizer.transform(texts.to_pylist() if isinstance(texts, pa.ChunkedArray | pa.Array) else texts)


ENCODERS: dict[str, type[Encoder]] = {e.kind: e for e in (Number, Pair, Date, Category, Text)}
