"""Renting of clouds: `python benchmarks/clouds.py [NAME...]`; without a name, all of it.

`make bench` leaves out what takes minutes: the last three.

`kills` lets servers, which are real processes with a database on disk, be killed by SIGKILL before
or after random steps while clouds refuse, do not answer or lose answers, each several times; in the
end a last server and one sweep must find nothing leaked and nothing lost. `launches` has one server
rent a hundred clusters at once; `status` lists as many, on rented machines that are stopped. These
have stand-in clouds. `launches-moto` and `ddp` (see clouds_moto.py) and `kills-moto` (see
clouds_moto_kills.py) have the AWS of moto.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("cluster", "clouds", "e2e", "ssh_hosts")
sys.path[:1] = [str(ROOT), *(str(ROOT / "test" / each) for each in FOLDERS)]

from benchmarks.clouds_load import (  # noqa: E402 - from the root
    disorder,
    in_process,
    keep_clusters,
    killed_life,
    launched,
)
from benchmarks.suite import Measurement, Row, Rows, run  # noqa: E402
from benchmarks.workbench import scratch_home, timed, trainway  # noqa: E402

KILLS: Final = 200
CLUSTERS: Final = 100
NODES: Final = 2
MOST_MB: Final = 300
STATUS: Final = 9
MOST_STATUS_S: Final = 0.3


def kills() -> Iterator[Row]:
    """As many kills as it takes."""
    yield from disorder("leaked, lost or in disorder after a sweep", KILLS, killed_life)


def launches() -> Iterator[Row]:
    """A hundred clusters at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, found = in_process(folder, lambda: launched(folder, CLUSTERS, NODES))
    if not isinstance(found, dict):
        raise TypeError("a server says what it has done")
    what = f"{CLUSTERS} clusters of {NODES} nodes at once"
    yield Row(f"{what}: rented in", found["seconds"], "s")
    yield Row(f"{what}: lost", found["lost"], "", 0)
    yield Row(f"{what}: memory", found["mb"], "MB", MOST_MB, f"{found['before_mb']:.0f} MB before")
    yield Row(f"{what}: given back in", found["ending_seconds"], "s")
    yield Row(f"{what}: left over", found["left"], "", 0)


def status() -> Iterator[Row]:
    """The command, on a server with a hundred clusters."""
    with scratch_home() as home:
        keep_clusters(home, CLUSTERS)
        shown = trainway("status")  # it starts the server
        rows = sum(line.startswith("c0") for line in shown.splitlines())
        took = [timed(trainway, "status") for _ in range(STATUS)]
    yield Row(f"clusters that status does not show, of {CLUSTERS}", CLUSTERS - rows, "", 0)
    best = f"fastest {min(took):.3f} s"
    yield Row(f"trainway status with {CLUSTERS} clusters", median(took), "s", MOST_STATUS_S, best)


def launches_moto() -> Iterator[Row]:
    """The same by boto3, of moto's AWS."""
    from benchmarks.clouds_moto import launches  # noqa: PLC0415 - it needs what tests have

    yield from launches(CLUSTERS, NODES, MOST_MB)


def kills_moto() -> Iterator[Row]:
    """As many kills, of servers that rent of moto's AWS."""
    from benchmarks.clouds_moto_kills import kills  # noqa: PLC0415 - as above

    yield from kills(KILLS)


def ddp() -> Iterator[Row]:
    """Torch on spot machines of moto's AWS, of which one is taken."""
    from benchmarks.clouds_moto import ddp  # noqa: PLC0415 - as above

    yield from ddp()


MEASUREMENTS: Final[dict[str, Measurement]] = {
    "kills": kills,
    "launches": launches,
    "status": status,
    "launches-moto": launches_moto,
    "kills-moto": kills_moto,
    "ddp": ddp,
}


def rows(chosen: Iterable[Measurement]) -> Rows:
    """Those of each measurement."""
    for measure in chosen:
        yield from measure()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], MEASUREMENTS, rows))
