"""Install what is in a folder of distributions into a bare environment, and use it there as a stranger would.

    python tools/check_dist.py dist

First the wheel: the package, the command and a saved model. Then the sdist with a compiler that fails: it must install
all the same, take the portable path, and give the same answers.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MAKE_TABLE = """
import pandas as pd
from dips.datasets import flip_labels, make_quadrants
X, y = make_quadrants(240, random_state=0)
y, flipped = flip_labels(y, 0.1, random_state=0)
table = pd.DataFrame(X, columns=["east", "north"]).assign(side=pd.Series(y).map({0: "left", 1: "right"}))
table.loc[160:, "side"] = None
table.to_csv("table.csv", index=False)
"""

FIT_SAVE_LOAD = """
import json, sys
import dips, pandas as pd
from dips._forest import kernel
assert "site-packages" in dips.__file__, dips.__file__
table = pd.read_csv("table.csv")
X = table[["east", "north"]].to_numpy()
clf = dips.PseudoLabelClassifier(random_state=0).fit(X, table["side"])
dips.save_model(clf, sys.argv[1])
loaded = dips.load_model(sys.argv[1])
assert (loaded.predict(X) == clf.predict(X)).all()
print(json.dumps({
    "compiled": bool(kernel.library()),
    "useful": int(clf.samples_["useful"].sum()),
    "right": int((clf.predict(X)[:160] == table["side"][:160]).sum()),
}))
"""


class Environment:
    """A virtual environment in a folder of its own, and an empty folder to work in."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", with_pip=True)
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "work"
        self.work.mkdir()

    def run(self, *command: str, **more: str) -> str:
        """Run a program of the environment; stop with all it printed where it fails."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment |= {"OMP_NUM_THREADS": "1"} | more
        program = str(self.bin / command[0])
        done = subprocess.run(
            [program, *command[1:]], cwd=self.work, env=environment, capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command[:3])} … failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, *arguments: str, **more: str) -> None:
        """Install with pip, held to the versions that the tests run on."""
        quietly = ["--quiet", "--disable-pip-version-check", "--no-compile"]
        self.run("python", "-m", "pip", "install", *quietly, *arguments, **more)


def use(environment: Environment, name: str) -> dict[str, object]:
    """The package, then the command."""
    environment.run("python", "-c", MAKE_TABLE)
    seen = json.loads(environment.run("python", "-c", FIT_SAVE_LOAD, f"saved-{name}"))
    assert "audit" in environment.run("dips", "--help")
    assert "dips" in environment.run("dips", "info")
    audited = json.loads(environment.run("dips", "audit", "table.csv", "--target", "side", "--json"))
    assert audited["n_labeled"] == 160, audited["n_labeled"]
    return seen | {"suspects": len(audited["suspects"])}


def use_at_length(environment: Environment) -> None:
    """A whole study: from a table to a run folder to predictions."""
    environment.run("dips", "fit", "table.csv", "--target", "side", "--rounds", "2", "-o", "run")
    environment.run("dips", "predict", "run", "table.csv", "-o", "predicted.csv")
    for made in ("run/report.html", "predicted.csv"):
        assert (environment.work / made).stat().st_size > 1000, made


def main(folder: Path) -> None:
    """Check the one wheel and the one sdist of the folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        environment = Environment(Path(place))
        environment.install("-c", str(ROOT / "constraints.txt"), str(wheel.resolve()))
        from_wheel = use(environment, "wheel")
        use_at_length(environment)
        print(f"{wheel.name}: {from_wheel}")
        environment.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "dips-ssl")
        environment.install("--no-deps", "--no-cache-dir", str(sdist.resolve()), CC="/bin/false", CXX="/bin/false")
        from_sdist = use(environment, "sdist")
        print(f"{sdist.name} without a compiler: {from_sdist}")
        assert not from_sdist.pop("compiled"), "the compiler was to fail"
        from_wheel.pop("compiled")
        assert from_sdist == from_wheel, "the portable path gives other answers"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
