"""Turn a checkpoint into the one file that the package ships: ``python -m dips.network.export CHECKPOINT [OUT]``.

It holds the running mean of the weights in half precision, with ``--average FILE`` the mean of these and the weights
that the training began with. PyTorch is not needed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from dips.exceptions import ModelError
from dips.network._settings import NetworkSettings
from dips.network._weights import SHIPPED, Weights, shapes


def export(checkpoint: Path, out: Path, average: Path | None = None) -> None:
    """Write the averaged weights of a checkpoint, or the mean of them and others; refused where sizes differ."""
    settings = NetworkSettings.load(checkpoint / "settings.json").model
    with np.load(checkpoint / "mean.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    wanted = shapes(settings)
    if {name: array.shape for name, array in arrays.items()} != wanted:
        raise ModelError(f"The weights in {checkpoint} are not those of a network with its settings.")
    if average is not None:
        others = Weights.load(average)
        if others.settings != settings:
            raise ModelError(f"The weights in {average} are not of the same sizes as those in {checkpoint}.")
        arrays = {name: (array + others.arrays[name]) / 2 for name, array in arrays.items()}
    Weights(settings, arrays).save(out)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="folder that dips.network.train wrote")
    parser.add_argument("out", type=Path, nargs="?", default=SHIPPED, help="file to write; else the package's own")
    parser.add_argument("--average", type=Path, help="exported weights to take the mean with")
    options = parser.parse_args(arguments)
    export(options.checkpoint, options.out, options.average)
    count = sum(array.size for array in Weights.load(options.out).arrays.values())
    print(f"{options.out}: {count:,} weights, {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
