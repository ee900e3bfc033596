"""Records of experiments and checkpoints of image trainings, edited or damaged."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from dips._paper.engine import Store, run
from tests.attack.outcomes import CLEAN, DIFFERENT, REFUSED
from tests.paper.jobs import Square

JOB = Square(3)


def attack(place: Path, seed: int) -> str:
    """Damage a record; it must be made again, or say what it said before."""
    rng = random.Random(seed)
    store = Store(place / "store")
    shutil.rmtree(store.folder, ignore_errors=True)
    run([JOB], store)
    (path,) = store.folder.glob("records/*/*.json")
    content = bytearray(path.read_bytes())
    kind = rng.randrange(4)
    at = rng.randrange(len(content))
    if kind == 0:
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del content[at:]
    elif kind == 2:
        content = bytearray(content.replace(b'"square": 9', f'"square": {rng.randrange(9)}'.encode()))
    else:
        record = json.loads(content)
        record[rng.choice(list(record))] = rng.choice((None, [], {}, 7, "x", "[" * 5_000))
        content = bytearray(json.dumps(record).encode())
    path.write_bytes(content)
    kept = store.get(JOB.key())
    if kept is None:
        return REFUSED
    return CLEAN if kept["outcome"] == {"square": 9} else DIFFERENT
