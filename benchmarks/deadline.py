"""The deadline policy, replayed: `python benchmarks/deadline.py [traces|random]`.

48 hours of work, 60 until the deadline, 6 minutes for a changeover, a cheap place at 0.3 of the
sure one's price. `traces` are recordings of a cloud in `shared/data/spot-traces` beside the
repository: a job begins in each every 24 hours. `random` are seeded. Costs are means of the cost
over that of one who knows the future (dynamic programming, exact); no process is started, and no
clock is looked at.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from benchmarks.suite import Measurement, Row, Rows, run  # noqa: E402 - found from the root
from trainway.engine.recovery.replay_testing import (  # noqa: E402
    HOUR,
    Bargain,
    Policy,
    Trace,
    always_sure,
    greedy,
    optimum,
    random_trace,
    read_trace,
    replay,
)
from trainway.engine.recovery.uniform_progress import next_place  # noqa: E402

RECORDED: Final = ROOT.parent / "shared" / "data" / "spot-traces"
BARGAIN: Final = Bargain(48 * HOUR, 60 * HOUR, HOUR // 10, 0.3)
EVERY: Final = 24 * HOUR
SEEDS: Final = range(100)
LIMIT: Final = 1.10
POLICIES: Final[dict[str, Policy]] = {"greedy": greedy, "always the sure place": always_sure}


def traces() -> Iterator[Row]:
    """The recordings of single nodes, together and one by one, and that of sixteen."""
    single = sorted(RECORDED.glob("us-*.json.gz"))
    if not single:
        raise FileNotFoundError(f"there are no traces in {RECORDED}")
    windows = {path: read_trace(path).windows(BARGAIN.deadline, EVERY) for path in single}
    best = {path: [optimum(BARGAIN, window) for window in found] for path, found in windows.items()}
    everything = [window for found in windows.values() for window in found]
    yield from _rows("traces", everything, [cost for found in best.values() for cost in found])
    for path, found in windows.items():
        yield _mean(f"  {path.name.partition('_')[0]}", found, best[path], None)
    for path in sorted(RECORDED.glob("16-node*.json.gz")):
        found = read_trace(path, at_least=16).windows(BARGAIN.deadline, EVERY)
        known = [optimum(BARGAIN, window) for window in found]
        yield _mean("  a gang of 16 nodes, all or none", found, known, None)


def seeded() -> Iterator[Row]:
    """Places that come and go by chance, for minutes or for hours."""
    found = [random_trace(seed, 300, BARGAIN.deadline) for seed in SEEDS]
    yield from _rows("random", found, [optimum(BARGAIN, trace) for trace in found])


def _rows(what: str, found: list[Trace], best: list[float]) -> Iterator[Row]:
    yield _mean(f"{what}: uniform progress over the optimum", found, best, LIMIT)
    missed = sum(replay(BARGAIN, trace).ended is None for trace in found)
    yield Row(f"{what}: deadlines missed", missed, "", 0, f"of {len(found)}")
    for name, policy in POLICIES.items():
        yield _mean(f"{what}: {name} over the optimum", found, best, None, policy)


def _mean(
    what: str,
    found: list[Trace],
    best: list[float],
    limit: float | None,
    policy: Policy = next_place,
) -> Row:
    ratios = [
        replay(BARGAIN, trace, policy).cost / cost for trace, cost in zip(found, best, strict=True)
    ]
    beside = f"{len(found)} jobs, worst {max(ratios):.2f}"
    return Row(what, fmean(ratios), "x", limit, beside)


MEASUREMENTS: Final[dict[str, Measurement]] = {"traces": traces, "random": seeded}


def _taken(chosen: Iterable[Measurement]) -> Rows:
    for measurement in chosen:
        yield from measurement()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], MEASUREMENTS, _taken, FileNotFoundError))
