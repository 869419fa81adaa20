"""A hyperparameter search against the grid that it stands for, on `examples/torch_ddp.py`.

The grid has 48 combinations of three parameters. The search has 12 trials in ranges with the same
ends, learns from them and stops bad ones early. Both run four trials at a time, in a home of their
own. Everything random has a seed. What both found is printed side by side, and judged.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks import suite
from benchmarks.local_load import torch_environment
from benchmarks.suite import Measurement, Row, Rows
from benchmarks.workbench import REPOSITORY, scratch_home, trainway

AT_A_TIME = 4
METRIC = "val_loss"
SCRIPT = "--epochs 8 --samples 1024 --validation-samples 1024 --noise 8"
GRID = {
    "lr": "0.0003,0.001,0.003,0.01,0.03,0.1",
    "weight-decay": "0,0.03,0.1,0.3",
    "batch-size": "16,64",
}
SEARCH = {"lr": "log:0.0003:0.1", "weight-decay": "uniform:0:0.3", "batch-size": "16,64"}
HOW = "--algorithm tpe --prune median --trials 12 --seed 7"
MOST_WORSE, MOST_TIME = 5.0, 50.0


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    seconds: float
    phases: Mapping[str, int]
    best: Mapping[str, Any]

    @property
    def loss(self) -> float:
        """The smallest."""
        return float(self.best["value"])


def main(names: list[str]) -> int:
    """Measure, print, judge."""
    return suite.run(names, {"tune": tune}, rows)


def rows(chosen: list[Measurement]) -> Rows:
    """One after the other."""
    for measure in chosen:
        yield from measure()


def tune() -> Iterator[Row]:
    """The grid, then the search."""
    search_path = [str(torch_environment() / "bin"), os.environ["PATH"]]
    os.environ["PATH"] = os.pathsep.join(search_path)
    os.environ["PYTHONPATH"] = str(REPOSITORY / "src")  # trials report with `trainway.report`
    os.environ["OMP_NUM_THREADS"] = "1"
    with scratch_home():
        grid = searched(GRID, "--algorithm grid")
    with scratch_home():
        found = searched(SEARCH, HOW)
    print(side_by_side({"grid": grid, "search": found}))
    worse = 100 * (found.loss / grid.loss - 1)
    yield Row(f"best {METRIC} of the search, over the grid's", worse, "%", MOST_WORSE)
    taken = 100 * found.seconds / grid.seconds
    yield Row("wall time of the search, of the grid's", taken, "%", MOST_TIME)


def searched(parameters: Mapping[str, str], how: str) -> Found:
    """Run `trainway tune` to its end."""
    asked = [f"--param={name}={values}" for name, values in parameters.items()]
    words = ["tune", "examples/torch_ddp.py", "--name", "ddp", "--procs-per-node", "1", *asked]
    words += ["--objective", f"{METRIC}:min", "--parallel", str(AT_A_TIME), *how.split()]
    trainway("jobs", "list")  # the server runs
    started = time.perf_counter()
    trainway(*words, "--", *SCRIPT.split())
    seconds = time.perf_counter() - started
    run = json.loads(trainway("runs", "show", "ddp", "-o", "json"))
    return Found(seconds, run["status"]["phases"], run["search"]["best"])


def side_by_side(found: Mapping[str, Found]) -> str:
    """A table with a column for each."""
    lines: dict[str, list[str]] = {
        "": list(found),
        "trials": [str(sum(one.phases.values())) for one in found.values()],
        "of these stopped early": [str(one.phases.get("Cancelled", 0)) for one in found.values()],
        "wall time": [f"{one.seconds:.0f} s" for one in found.values()],
        f"best {METRIC}": [f"{one.loss:.4f}" for one in found.values()],
    }
    for name in GRID:
        lines[name] = [str(one.best["parameters"][name]) for one in found.values()]
    cells = {what: "".join(f"{cell:>12}" for cell in row) for what, row in lines.items()}
    return "\n".join(f"{what:24}{row}" for what, row in cells.items())
