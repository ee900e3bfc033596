"""Print the lowest version of every library that pyproject.toml allows, as pip constraints.

python tools/lowest.py polars plot > lowest.txt     # those of the named extras too
"""

import re
import sys
import tomllib
from pathlib import Path

_FLOOR = re.compile(r"([A-Za-z0-9_.-]+)\s*>=\s*([0-9.]+)$")


def floors(extras: list[str]) -> list[str]:
    """One ``name==version`` per library that has a floor."""
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(r for extra in extras for r in project["optional-dependencies"][extra])]
    matches = [_FLOOR.match(requirement) for requirement in wanted]
    return [f"{m[1]}=={m[2]}" for m in matches if m]


if __name__ == "__main__":
    print("\n".join(floors(sys.argv[1:])))
