"""Turn a checkpoint into the one file that the package ships: ``python -m dips.network.export CHECKPOINT [OUT]``.

It holds the running mean of the weights in half precision. PyTorch is not needed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dips.exceptions import ModelError

from ._settings import NetworkSettings
from ._weights import SHIPPED, Weights, shapes


def export(checkpoint: Path, out: Path) -> None:
    """Write the averaged weights of a checkpoint; refused where they are not those of its settings."""
    settings = NetworkSettings.load(checkpoint / "settings.json").model
    with np.load(checkpoint / "mean.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    wanted = shapes(settings)
    if {name: array.shape for name, array in arrays.items()} != wanted:
        raise ModelError(f"The weights in {checkpoint} are not those of a network with its settings.")
    Weights(settings, arrays).save(out)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="folder that dips.network.train wrote")
    parser.add_argument("out", type=Path, nargs="?", default=SHIPPED, help="file to write; else the package's own")
    options = parser.parse_args(arguments)
    export(options.checkpoint, options.out)
    count = sum(array.size for array in Weights.load(options.out).arrays.values())
    print(f"{options.out}: {count:,} weights, {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
