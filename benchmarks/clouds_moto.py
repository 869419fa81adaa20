"""The measurements of `benchmarks/clouds.py` on moto's AWS: torch on spot machines, many launches.

`ddp`: the machines are hosts, which are namespaces of this machine with an sshd each; that needs
root. A real torch DDP of four nodes (gloo) keeps its checkpoint in a folder that all of them see.
One machine is taken, and its zone has no room from then on.

`launches`: one process with all that a server has in memory rents machines that are records of
moto, until all of them run; nobody waits for ssh.
"""

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

from environments import TORCH, environment
from installation import Installation
from moto_cloud import REGION, MotoCloud, moto_process, paired
from patience import until
from renting_user import catalog, renting_user

from benchmarks.clouds_load import in_process, peak_mb, resident_mb
from benchmarks.suite import Row
from benchmarks.workbench import REPOSITORY
from ssh_hosts import SshHosts
from trainway.api.task import resources as task_resources
from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.engine.database import open_database
from trainway.engine.jobs import Engine
from trainway.engine.rental.record import RentalState
from trainway.engine.rental.terms import Terms
from trainway.engine.store import Store
from trainway.optimizer.request import TaskRequest, request

NODES: Final = 4
EPOCHS: Final = 3
PATIENCE_S: Final = 600.0
PRICES: Final = {f"{REGION}a": "41.3", f"{REGION}b": "52.7"}
"""Of a spot machine for an hour: so high that each second is a cent and more."""
BOTH: Final = {zone: ("96.5", spot) for zone, spot in PRICES.items()}
EPOCH: Final = re.compile(r"epoch (\d+) weight (\S+) ")
BEGINS: Final = re.compile(r"begins at (\d+) weight (\S+) ranks (\d+)")
TASK: Final = """
num_nodes: {nodes}
resources: {{infra: aws, cpus: 2, use_spot: true}}
envs: {{OMP_NUM_THREADS: "1", PYTHONPATH: {folder}}}
run: |
  export TRAINWAY_OUTPUT_DIR={folder}
  {python} -m torch.distributed.run --nnodes {nodes} --nproc-per-node 1 \\
    --node-rank $SKYPILOT_NODE_RANK --master-port 29523 \\
    --master-addr $(echo "$SKYPILOT_NODE_IPS" | head -n 1) {folder}/moving_train.py {folder}/enough
"""


def ddp() -> Iterator[Row]:
    """Four nodes, of which one is taken."""
    with (
        tempfile.TemporaryDirectory(prefix="trainway-ddp-") as name,
        SshHosts(NODES) as hosts,
        moto_process() as moto,
        paired(moto, hosts) as cloud,
        renting_user(cloud, Path(name), BOTH) as user,
    ):
        yield from through_a_loss(user, cloud, Path(name))


def through_a_loss(user: Installation, cloud: MotoCloud, folder: Path) -> Iterator[Row]:
    """Train, lose a machine, go on elsewhere, and pay."""
    job, shared = submitted(user, folder)
    began = time.monotonic()
    until(lambda: epochs(user, job) >= EPOCHS, "it does not train", PATIENCE_S)
    yield Row("launched until it has trained for 3 epochs", time.monotonic() - began, "s")
    first = {each["id"] for each in cloud.living()}
    cloud.fail("RunInstances", "InsufficientInstanceCapacity", zone=f"{REGION}a", times=99)
    cloud.take(sorted(first)[1])
    taken = time.monotonic()
    until(lambda: not first & {each["id"] for each in cloud.living()}, "others stay", PATIENCE_S)
    kept = (shared / "checkpoint.pt").stat().st_mtime_ns
    until(lambda: (shared / "checkpoint.pt").stat().st_mtime_ns > kept, "it is lost", PATIENCE_S)
    yield Row("one of 4 taken, until it trains on others", time.monotonic() - taken, "s")
    (shared / "enough").touch()
    user.run("jobs", "wait", job)
    until(lambda: cloud.living() == [], "machines are left", PATIENCE_S)
    until(lambda: user.json("jobs", "pool", "status")["items"] == [], "its pool is left")
    yield from history(user, cloud, job)


def submitted(user: Installation, folder: Path) -> tuple[str, Path]:
    """The training, and the folder with its checkpoint."""
    shared = folder / "shared"
    shared.mkdir()
    for source in ("benchmarks/moving_train.py", "examples/progress.py"):
        shutil.copy(REPOSITORY / source, shared)
    python = environment(*TORCH).path / "bin" / "python"
    task = folder / "task.yaml"
    task.write_text(TASK.format(nodes=NODES, folder=shared, python=python))
    return user.submit("--on", "aws", "--name", "ddp", str(task)), shared


def epochs(user: Installation, job: str) -> int:
    """How many it has done where it is."""
    return len(EPOCH.findall(user.run("jobs", "logs", job)))


def history(user: Installation, cloud: MotoCloud, job: str) -> Iterator[Row]:
    """From where it went on, and what all of it cost."""
    said = user.run("jobs", "logs", job, "--all-attempts")
    begun = [(int(epoch), int(ranks)) for epoch, _, ranks in BEGINS.findall(said)]
    yield Row("went on from the beginning", float(begun[-1][0] < EPOCHS), "", 0, f"{begun}")
    yield Row("went on with fewer ranks", float(begun[-1][1] != NODES), "", 0)
    ended = user.job(job)["status"]["endedAttempts"]
    yield Row("attempts that are not in its history", abs(1 - len(ended)), "", 0)
    zones = [each["zone"] for each in cloud.instances()]
    yield Row("machines in the zone that is full", zones.count(f"{REGION}a") - NODES, "", 0)
    cost = Decimal(str(user.json("cost-report")["total"]["cost"]))
    own = cloud.cost(PRICES)
    beside = f"cost-report ${cost:.2f}, its {len(zones)} machines ${own:.2f}"
    yield Row("cents between them", float(abs(round(cost, 2) - round(own, 2)) * 100), "", 0, beside)


def launches(clusters: int, nodes: int, most_mb: float) -> Iterator[Row]:
    """Many clusters at once."""
    with tempfile.TemporaryDirectory() as name, moto_process() as cloud:
        folder = Path(name)
        _, found = in_process(folder, lambda: launched(folder, cloud, clusters, nodes))
        left = len(cloud.living())
    if not isinstance(found, dict):
        raise TypeError("a server says what it has done")
    what = f"{clusters} clusters of {nodes} on moto"
    yield Row(f"{what}: rented in", found["seconds"], "s")
    yield Row(f"{what}: lost", found["lost"], "", 0)
    yield Row(f"{what}: memory", found["mb"], "MB", most_mb, f"{found['before_mb']:.0f} MB before")
    yield Row(f"{what}: given back in", found["ending_seconds"], "s")
    yield Row(f"{what}: left over", left + found["left"], "", 0)


def launched(folder: Path, cloud: MotoCloud, clusters: int, nodes: int) -> dict[str, float]:
    """So many clusters at once, by the rentals of an engine."""
    import trainway.server.app  # noqa: F401, PLC0415 - for its weight

    os.environ.update(cloud.variables())
    os.environ["TRAINWAY_CATALOG"] = catalog(folder / "catalog", BOTH)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    candidate = task_resources.read({"infra": "aws", "cpus": 2}).first
    wanted = TaskRequest("t", (request(candidate, nodes),))
    terms = Terms(public_key="ssh-ed25519 AAAA trainway")

    async def scene() -> dict[str, float]:
        home = folder / "home"
        home.mkdir()
        store = Store(open_database(f"sqlite:///{home / 'trainway.db'}"))
        engine = Engine(store, Registry(BackendSettings(home)))
        await engine.start()
        rentals, before = engine.rental_office.rentals, resident_mb()
        names = [f"c{number:03d}" for number in range(clusters)]
        began = time.perf_counter()
        await asyncio.gather(*(rentals.rent(name, wanted, terms) for name in names))
        took = time.perf_counter() - began
        running = [each for each in rentals.all() if each.state is RentalState.RUNNING]
        machines = {each.id for rental in running for each in rental.machines}
        after, ending = resident_mb(), time.perf_counter()
        await asyncio.gather(*(rentals.end(name) for name in names))
        ended = time.perf_counter() - ending
        left = len(rentals.all())
        await engine.close()
        return {
            "seconds": took,
            "ending_seconds": ended,
            "lost": clusters - len(running) + clusters * nodes - len(machines),
            "left": left,
            "before_mb": before,
            "mb": max(after, peak_mb()),
        }

    return asyncio.run(scene())
