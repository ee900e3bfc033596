"""The trained network in NumPy: the context is read once, and every other row asks it at a constant cost.

Rows go through in chunks of about `CHUNK_TOKENS` tokens, which keeps the numbers in the processor's cache and the
memory bounded. Several threads take chunks side by side, with one thread of the linear algebra library each: that needs
no waiting inside a product. The last block is computed for the tokens of the classes alone, of the context as of other
rows, because nothing else is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from dips._tools.arrays import Array
from dips._tools.threads import one_blas_thread
from dips.network._settings import USUAL_CONTEXT
from dips.network._weights import Weights

CHUNK_TOKENS = 1_536
PACKED_TOKENS = 48  # short rows lie side by side for attention up to this length
SAFE_EXPONENT = 60.0


@dataclass(frozen=True)
class Block:
    """Weights of one layer, transposed for rows of tokens from the left; the attention's scale is in the queries."""

    row_qkv: Array  # (width, 3 × width): queries, keys, values, each by head
    row_out: Array
    column_qkv: Array
    column_out: Array
    bend_in: Array
    bend_out: Array


@dataclass(frozen=True)
class Memory:
    """What one layer keeps of the context: keys and values of the column of every token it is asked for, by head."""

    keys: Array  # (tokens × heads, head, n)
    values: Array  # (tokens × heads, n, head)
    longest: Array  # (tokens × heads,) norm of the longest key


@dataclass(frozen=True)
class Context:
    """A table that has been read: its answers for its own rows, and what others look at."""

    blocks: list[Block]
    memories: list[Memory]
    logits: Array  # (n, C, 2) of the context rows
    n_tokens: int
    n_classes: int


class Threads:
    """Runs chunks of rows, on one thread or several."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def over(self, rows: int, size: int, work: Callable[[slice], None]) -> None:
        """Do the work for every chunk of rows."""
        chunks = [slice(start, min(rows, start + size)) for start in range(0, rows, size)]
        for _ in map(work, chunks) if self._pool is None else self._pool.map(work, chunks):
            pass


@contextmanager
def threads(count: int) -> Iterator[Threads]:
    """So many threads, and one of the linear algebra library in each."""
    with one_blas_thread():
        if count == 1:
            yield Threads(None)
            return
        with ThreadPoolExecutor(count) as pool:
            yield Threads(pool)


class FrozenNetwork:
    """The network with its weights laid out for NumPy."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.settings = weights, weights.settings
        self._arrays = weights.arrays
        self._masks: dict[tuple[int, int], Array] = {}

    def tokens(self, cells: Array, token_code: Array, marks: Array, class_code: Array) -> Array:
        """The first state of all tokens, (n, T, width): columns first, classes last."""
        a = self._arrays
        rows, of_columns = len(cells), len(token_code)
        x = np.empty((rows, of_columns + len(class_code), self.settings.width), np.float32)
        x[:, :of_columns] = cells.reshape(rows, of_columns, -1) @ a["cell_in.weight"].T
        x[:, :of_columns] += a["cell_in.bias"] + token_code @ a["token_in.weight"].T
        x[:, of_columns:] = marks @ a["mark_in.weight"].T
        x[:, of_columns:] += a["mark_in.bias"] + class_code @ a["class_in.weight"].T
        return x

    def read(self, x: Array, n_classes: int, run: Threads) -> Context:
        """Let the context rows (n, T, width) look at each other, layer by layer; `x` is overwritten."""
        rows, tokens, _ = x.shape
        blocks = [self._block(layer, rows) for layer in range(self.settings.layers)]
        firsts = [self._first_asked(layer, tokens, n_classes) for layer in range(self.settings.layers)]
        memories = [self._read_layer(x, block, first, run) for block, first in zip(blocks, firsts, strict=True)]
        return Context(blocks, memories, self._answer(x[:, -n_classes:]), tokens, n_classes)

    def _read_layer(self, x: Array, block: Block, first: int, run: Threads) -> Memory:
        """One layer for the context rows, whose tokens from `first` on are needed afterwards."""
        rows, tokens, width = x.shape
        memory = self._empty_memory(rows, tokens - first)
        queries = np.empty_like(x[:, first:])

        def enter(part: slice) -> None:
            qkv = self._along_row(x[part], block, block.column_qkv, first)
            queries[part] = qkv[..., :width]
            self._remember(memory, qkv, part)

        def leave(part: slice) -> None:
            self._leave(x[part, first:], self._along_column(queries[part], memory), block)

        run.over(rows, chunk_rows(tokens), enter)
        np.sqrt(np.square(memory.keys).sum(1).max(-1), out=memory.longest)
        run.over(rows, chunk_rows(tokens), leave)
        return memory

    def ask(self, context: Context, x: Array) -> Array:
        """Logits (m, C, 2) of rows that the context does not know; `x` (m, T, width) is overwritten."""
        for layer, (block, memory) in enumerate(zip(context.blocks, context.memories, strict=True)):
            first = self._first_asked(layer, context.n_tokens, context.n_classes)
            queries = self._along_row(x, block, block.column_qkv[:, : self.settings.width], first)
            x = x[:, first:]
            self._leave(x, self._along_column(queries, memory), block)
        return self._answer(x)

    def _first_asked(self, layer: int, tokens: int, n_classes: int) -> int:
        """The first token that a layer needs: in the last one, that of the first class."""
        return tokens - n_classes if layer == self.settings.layers - 1 else 0

    def _block(self, layer: int, context: int) -> Block:
        """Weights of one layer, column attention sharpened by the size of the context."""
        a, s = self._arrays, self.settings
        sharp = 1 + float(a["sharpen"][layer]) * math.log(context / USUAL_CONTEXT)
        return Block(
            _by_part(a["row_qkv"][layer], s.row_heads, 1.0),
            np.ascontiguousarray(a["row_out"][layer].T),
            _by_part(a["column_qkv"][layer], s.column_heads, sharp),
            np.ascontiguousarray(a["column_out"][layer].T),
            np.ascontiguousarray(a["bend_in"][layer].T),
            np.ascontiguousarray(a["bend_out"][layer].T),
        )

    def _along_row(self, x: Array, block: Block, then: Array, first: int = 0) -> Array:
        """Attention among the tokens of each row, added to `x`; returns what the tokens from `first` on ask next."""
        rows, tokens, width = x.shape
        heads = self.settings.row_heads
        qkv = (_norm(x).reshape(-1, width) @ block.row_qkv).reshape(rows, tokens, 3, heads, -1)
        pack = max(1, PACKED_TOKENS // tokens)
        attended = np.empty((rows, tokens, heads, width // heads), np.float32)
        whole = rows - rows % pack
        for part, side in ((slice(0, whole), pack), (slice(whole, rows), 1)):
            if part.stop > part.start:
                self._attend(qkv[part], side, attended[part])
        x, attended = x[:, first:], attended[:, first:]
        x += (attended.reshape(-1, width) @ block.row_out).reshape(x.shape)
        return (_norm(x).reshape(-1, width) @ then).reshape(*x.shape[:2], -1)

    def _attend(self, qkv: Array, side: int, out: Array) -> None:
        """Attention of short sequences, several rows side by side that do not see each other."""
        rows, tokens, _, heads, _ = qkv.shape
        length = side * tokens
        q, k, v = np.moveaxis(qkv.reshape(rows // side, length, 3, heads, -1), 2, 0)
        scores = q.transpose(0, 2, 1, 3) @ k.transpose(0, 2, 3, 1)  # (rows / side, heads, length, length)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        if side > 1:
            scores *= self._mask(side, tokens)
        scores /= scores.sum(-1, keepdims=True)
        out.reshape(rows // side, length, heads, -1)[...] = (scores @ v.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)

    def _mask(self, side: int, tokens: int) -> Array:
        """One where two tokens belong to the same row, else zero."""
        if (side, tokens) not in self._masks:
            row = np.arange(side * tokens) // tokens
            self._masks[side, tokens] = (row[:, None] == row).astype(np.float32)
        return self._masks[side, tokens]

    def _empty_memory(self, rows: int, tokens: int) -> Memory:
        heads = self.settings.column_heads
        size = self.settings.width // heads
        keys = np.empty((tokens * heads, size, rows), np.float32)
        values = np.empty((tokens * heads, rows, size), np.float32)
        return Memory(keys, values, np.empty(tokens * heads, np.float32))

    def _remember(self, memory: Memory, qkv: Array, part: slice) -> None:
        """Enter keys and values of some context rows."""
        rows = len(qkv)
        parts = qkv.reshape(rows, qkv.shape[1], 3, self.settings.column_heads, -1)
        size = parts.shape[-1]
        memory.keys[:, :, part] = parts[:, :, 1].reshape(rows, -1, size).transpose(1, 2, 0)
        memory.values[:, part] = parts[:, :, 2].reshape(rows, -1, size).transpose(1, 0, 2)

    def _along_column(self, queries: Array, memory: Memory) -> Array:
        """Attention of each token to the context rows of its column."""
        rows, _, width = queries.shape
        by_head = queries.reshape(rows, -1, width // self.settings.column_heads)  # (m, tokens × heads, head)
        bounds = np.sqrt(np.square(by_head).sum(-1).max(0)) * memory.longest
        attended = np.empty_like(by_head)
        scores = np.empty((rows, memory.keys.shape[-1]), np.float32)
        for place, bound in enumerate(bounds):
            np.matmul(by_head[:, place], memory.keys[place], out=scores)
            if bound > SAFE_EXPONENT:
                scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            np.matmul(scores, memory.values[place], out=attended[:, place])
            attended[:, place] /= np.einsum("ij->i", scores)[:, None]  # a third of the time of sum
        return attended.reshape(queries.shape)

    def _leave(self, x: Array, attended: Array, block: Block) -> None:
        """Add what attention found, and bend each token by itself, in place."""
        width = x.shape[-1]
        x += (attended.reshape(-1, width) @ block.column_out).reshape(x.shape)
        bent = _norm(x).reshape(-1, width) @ block.bend_in
        np.maximum(bent, 0, out=bent)
        bent *= bent
        x += (bent @ block.bend_out).reshape(x.shape)

    def _answer(self, x: Array) -> Array:
        return _norm(x) @ self._arrays["answer.weight"].T + self._arrays["answer.bias"]


def _norm(x: Array) -> Array:
    """Root mean square one; epsilon as in PyTorch."""
    mean = np.einsum("...i,...i->...", x, x)[..., None] / x.shape[-1]
    return x * (1 / np.sqrt(mean + np.finfo(np.float32).eps))


def _by_part(qkv: Array, heads: int, sharp: float) -> Array:
    """(heads × 3 × head, width) to (width, 3 × heads × head), queries scaled for attention."""
    width = qkv.shape[-1]
    parts = qkv.reshape(heads, 3, width // heads, width).transpose(1, 0, 2, 3).copy()
    parts[0] *= sharp / math.sqrt(width // heads)
    return np.ascontiguousarray(parts.reshape(3 * width, width).T)


def chunk_rows(tokens: int) -> int:
    """How many rows of so many tokens make a chunk."""
    return max(1, CHUNK_TOKENS // tokens)
