"""The optimizer on a real catalog: `python benchmarks/optimizer.py [requests|pipelines|command]`.

The offers are those of `shared/data/catalog` beside the repository, or of the folder that
TRAINWAY_CATALOG names. Each of 2,000 random requests is also answered by looking at every line of
the files, and must cost the same; so is each with its best offer blocked. SkyPilot takes 300 to
5,500 ms for a request, as measured in `shared/reference/skypilot-behaviour.md`.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from benchmarks.suite import Measurement, Row, Rows, run  # noqa: E402 - found from the root
from trainway.api.accelerators import Accelerator  # noqa: E402
from trainway.api.task.amounts import Amount  # noqa: E402
from trainway.api.task.infra import Infra  # noqa: E402
from trainway.catalog.google_hosts import with_hosts  # noqa: E402
from trainway.catalog.sources import VARIABLE, catalog_files, open_catalog, read_file  # noqa: E402
from trainway.catalog.store import Catalog  # noqa: E402
from trainway.errors import NotFoundError  # noqa: E402
from trainway.optimizer.plan import plan  # noqa: E402
from trainway.optimizer.request import Block, Request, TaskRequest  # noqa: E402
from trainway.optimizer.search import Search  # noqa: E402
from trainway.optimizer.testing import Lines  # noqa: E402

FOLDER: Final = Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data" / "catalog")
REQUESTS: Final = 2000
PIPELINES: Final = 50
TASKS: Final = 10
SEED: Final = 23


def _catalog(folder: str) -> Catalog:
    if not FOLDER.is_dir():
        raise FileNotFoundError(f"there is no catalog in {FOLDER}")
    return open_catalog(Path(folder), Path(folder), {VARIABLE: str(FOLDER)})


def _lines() -> Lines:
    clouds = {cloud: list(read_file(path)) for cloud, path in catalog_files(FOLDER).items()}
    return Lines({**clouds, "gcp": list(with_hosts(clouds.get("gcp", ())))})


def random_request(chance: random.Random, catalog: Catalog) -> Request:
    """What somebody might ask for: half of them a GPU, some of them spot, some of them a place."""
    spot = chance.random() < 0.3
    infra = Infra()
    if chance.random() < 0.2:
        infra = Infra(chance.choice(catalog.clouds()))
    if chance.random() < 0.5:
        query = (
            "SELECT DISTINCT accelerator, accelerator_count FROM machines WHERE accelerator != ''"
        )
        name, count = chance.choice(catalog.rows(query))
        return Request(infra, accelerator=Accelerator(name, count), spot=spot)
    cpus = chance.choice((1, 2, 4, 8, 16, 32, 64, 96))
    memories = (None, Amount(4, per_cpu=True), Amount(cpus * chance.choice((1, 2, 4, 8)), True))
    wanted = Amount(cpus, at_least=chance.random() < 0.7)
    return Request(infra, cpus=wanted, memory=chance.choice(memories), spot=spot)


def requests() -> Iterator[Row]:
    """One request after the other, each against a look at every line."""
    chance = random.Random(SEED)  # noqa: S311 - the same each time
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        _catalog(folder).close()
        compiled = time.perf_counter() - began
        began = time.perf_counter()
        catalog = _catalog(folder)
        opened = time.perf_counter() - began
        lines = _lines()
        taken, different, nothing, blocked_differ = [], 0, 0, 0
        for _ in range(REQUESTS):
            request = random_request(chance, catalog)
            began = time.perf_counter()
            found = _price(Search(catalog), request)
            taken.append(time.perf_counter() - began)
            different += found != lines.lowest(request)
            nothing += found is None
            if found is not None:
                blocked_differ += _next_differs(catalog, lines, request)
        catalog.close()
    taken.sort()
    yield Row("compiling the catalog", compiled, "s", None, f"{lines.count:,} lines")
    yield Row("opening it", opened * 1e3, "ms", 10)
    yield Row("a request, median", median(taken) * 1e3, "ms", 5, f"{REQUESTS} requests")
    yield Row("a request, p99", taken[int(REQUESTS * 0.99)] * 1e3, "ms", 30)
    yield Row("requests that differ from a look at every line", different, "", 0, f"{nothing} none")
    yield Row("the same with the best offer blocked", blocked_differ, "", 0)


def _price(search: Search, request: Request) -> float | None:
    """As the catalog has it: a plan rounds what it tells."""
    try:
        (choice,) = plan(search, [TaskRequest("a", (request,))], {}).choices
    except NotFoundError:
        return None
    return choice.offer.hourly(spot=request.spot)


def _next_differs(catalog: Catalog, lines: Lines, request: Request) -> bool:
    (choice,) = plan(Search(catalog), [TaskRequest("a", (request,))], {}).choices
    offer = choice.offer
    block = Block(offer.machine.cloud, offer.region, instance_type=offer.machine.name)
    return _price(Search(catalog, blocks=[block]), request) != lines.lowest(request, [block])


def pipelines() -> Iterator[Row]:
    """Pipelines of ten tasks with data between them; exact by `optimizer/labelling_test.py`."""
    chance = random.Random(SEED)  # noqa: S311 - the same each time
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        _catalog(folder).close()
        catalog = _catalog(folder)
        search = Search(catalog)
        while len(taken) < PIPELINES:
            tasks, after = _pipeline(chance, catalog)
            began = time.perf_counter()
            try:
                plan(search, tasks, after)
            except NotFoundError:
                continue
            taken.append(time.perf_counter() - began)
        catalog.close()
    taken.sort()
    beside = f"{PIPELINES} pipelines, worst {taken[-1] * 1e3:.0f} ms"
    yield Row("a pipeline of 10 tasks, median", median(taken) * 1e3, "ms", 50, beside)


def _pipeline(
    chance: random.Random, catalog: Catalog
) -> tuple[list[TaskRequest], dict[str, list[str]]]:
    tasks, after = [], {}
    for rank in range(TASKS):
        gigabytes = chance.choice((0, 10, 100, 1000, 5000))
        request = random_request(chance, catalog)
        tasks.append(TaskRequest(f"task-{rank}", (request,), output_gb=gigabytes))
        after[f"task-{rank}"] = [f"task-{other}" for other in range(rank) if chance.random() < 0.3]
    return tasks, after


def command() -> Iterator[Row]:
    """`trainway optimize` as a user has it, with the catalog compiled already."""
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.yaml"
        task.write_text("resources: {accelerators: A100:8}\nrun: nvidia-smi\n")
        program = str(Path(sys.executable).with_name("trainway"))
        environment = {**os.environ, VARIABLE: str(FOLDER), "XDG_CACHE_HOME": folder}
        taken = []
        for _ in range(6):
            began = time.perf_counter()
            subprocess.run(
                [program, "optimize", str(task), "-o", "json"],
                env=environment, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            taken.append(time.perf_counter() - began)
    yield Row("trainway optimize", median(taken[1:]), "s", 0.4, f"the first time {taken[0]:.1f} s")


MEASUREMENTS: Final[dict[str, Measurement]] = {
    "requests": requests, "pipelines": pipelines, "command": command,
}  # fmt: skip


def _taken(chosen: Iterable[Measurement]) -> Rows:
    for measurement in chosen:
        yield from measurement()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], MEASUREMENTS, _taken, FileNotFoundError))
