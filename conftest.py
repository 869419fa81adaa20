"""What all tests share.

A shell that starts something in the background lets it ignore SIGINT, as nohup does with SIGHUP,
and everything below inherits that. Tests send both to themselves and to the processes they start,
so they must hear them.

Tests of a group (`pytest.mark.xdist_group`) run in one process, one after the other: `make test`
has its own way to run several (`tools/parallel_tests.py`), and `make test-engines` pytest-xdist,
which tells groups by the ids of tests: but its version 3.8 changes these where pytest 9.2 does not
look any more. Tests that share a fixture of their module, such as a server, are a group too, or
each process would start one; those that need an engine take long, and say themselves what belongs
together. Unit tests of a file are a group as well: what a module makes once is made in one process.

Property tests have few examples here and many in `make fuzz`, and no deadline of their own: a
machine that is busy is not a defect. In CI hypothesis takes the same examples every time, but those
of `make fuzz` are new ones there, too.

`make test` runs what needs only Python and this machine, and `make test-engines` the rest. A test
is marked as one of these by the fixtures it uses, or by its folder. Cases marked `stress` do many
times what another case of the same test does a few times (kills, jobs): see `make test-stress`.

Everybody waits for tests to be collected, so what that costs is kept low: the modules of tests are
compiled once, even where Python may write no bytecode, and the garbage collector does not look
through what stays to the end. Plugins of pytest are named in `pyproject.toml`: pytest compiles the
packages of those it finds itself with its own `assert`, hypothesis among them, in every process
anew. Folders of engines are not looked into where none of their tests would run, and `make
test-hosts` looks into no others: a test that needs an engine and is elsewhere would never run, so
that it is an error to have one.

CI runs tests that fail once more (docs/decisions/0015-ci-repeats-what-fails.md); they are told to
it here, in the file that TRAINWAY_FAILED_TESTS names.
"""

import gc
import os
import signal
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from _pytest.nodeid import NodeId
from hypothesis import HealthCheck, settings

UNTIMED: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", UNTIMED, max_examples=40)
settings.register_profile("many", UNTIMED, max_examples=3_000, derandomize=False)
settings.load_profile("few")

UNIT_TESTS: Final = Path(__file__).parent / "src"
ENGINE_FIXTURES: Final = frozenset(
    {
        "cloud_store",
        "idle_slurm_cluster",
        "moto_session",
        "podman",
        "s3_server",
        "slurm_cluster",
        "ssh_hosts",
    }
)
ENGINE_GROUPS: Final = frozenset({"ssh", "slurm", "slurm_scattered"})
NOT_ENGINE: Final = "not engine"
"""What `make test` chooses its tests with."""
ENGINE_FOLDERS: Final = tuple(
    Path(__file__).parent / "test" / name
    for name in ("clouds", "kubernetes", "ssh_hosts", "slurm_cluster")
)
pytest_plugins = ["parallel_tests"]
LOOKED_INTO: Final = (Path(__file__).parent / "test", UNIT_TESTS / "trainway" / "engine")
"""Where `make test-hosts` looks for tests: reading all others takes each worker half a minute."""


def pytest_configure() -> None:
    """Undo what a shell or nohup may have set."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Say which tests failed, if that is all that went wrong."""
    file = os.environ.get("TRAINWAY_FAILED_TESTS")
    if file and "PYTEST_XDIST_WORKER" not in os.environ:
        is_all = exitstatus == pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        stats = {} if reporter is None else reporter.stats
        found = [each for kind in ("failed", "error") for each in stats.get(kind, [])]
        names = sorted({without_group(str(each.nodeid)) for each in found})
        Path(file).write_text("".join(f"{name}\n" for name in names if is_all))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect quickly; the tests then run as Python would run them."""
    no_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = False
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        sys.dont_write_bytecode = no_bytecode


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders of engines in `make test`."""
    is_left_out = config.option.markexpr == NOT_ENGINE and collection_path in ENGINE_FOLDERS
    return True if is_left_out else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    items: list[pytest.Item], config: pytest.Config
) -> Generator[None]:
    """Mark the tests that need an engine; give every test the id that xdist wants it to have.

    With several processes, the long tests come first: at the end short ones keep all cores busy.
    With pytest-xdist that takes `--no-loadscope-reorder`, or the groups of many tests come first.
    """
    for item in items:
        if needs_engine(item):
            item.add_marker("engine")
        elif not is_marked(item, "engine", "xdist_group") and belongs_to_its_file(item):
            module, _, _ = item.nodeid.partition("::")
            item.add_marker(pytest.mark.xdist_group(module.replace("/", ".")))
        if is_missed(item):
            raise pytest.UsageError(f"{item.nodeid} needs an engine: make test-hosts misses it")
    if config.option.processes or "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: is_below(item.path, UNIT_TESTS))
    yield
    for item in items:
        wanted = vars(item).get("_nodeid")
        if wanted is not None:
            item._id = NodeId.parse(wanted)  # noqa: SLF001 - there is no other way


def without_group(name: str) -> str:
    """The id of a test without what xdist appends to it for its group."""
    before, _, _ = name.rpartition("@")
    return before if before.endswith("]") or (before and "[" not in before) else name


def needs_engine(item: pytest.Item) -> bool:
    """Whether a test needs a cluster, hosts, a database server, a container runtime or time."""
    groups = {mark.args[0] for mark in item.iter_markers("xdist_group") if mark.args}
    callspec = vars(item).get("callspec")
    return (
        item.get_closest_marker("stress") is not None
        or not ENGINE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or not ENGINE_GROUPS.isdisjoint(groups)
        or (callspec is not None and "postgresql" in callspec.params.values())
        or is_of_engines(item.path)
    )


def is_missed(item: pytest.Item) -> bool:
    """Whether `make test-hosts` ought to run a test, and does not look for it where it is."""
    if not is_marked(item, "engine") or is_marked(item, "stress", "conformance"):
        return False  # others run these, and look everywhere
    return not any(is_below(item.path, folder) for folder in LOOKED_INTO)


def is_marked(item: pytest.Item, *names: str) -> bool:
    """Whether a test has one of the marks."""
    return any(item.get_closest_marker(name) is not None for name in names)


def belongs_to_its_file(item: pytest.Item) -> bool:
    """Whether a test runs in one worker with the others of its file."""
    return is_below(item.path, UNIT_TESTS) or shares_a_fixture(item)


def shares_a_fixture(item: pytest.Item) -> bool:
    """Whether a test uses what is set up once for its module."""
    info = vars(item).get("_fixtureinfo")
    used = {} if info is None else info.name2fixturedefs
    return any(found[-1].scope == "module" for found in used.values() if found)


@cache
def is_of_engines(path: Path) -> bool:
    """Whether all tests of a file need an engine."""
    return any(is_below(path, folder) for folder in ENGINE_FOLDERS)


@cache
def is_below(path: Path, folder: Path) -> bool:
    """Whether a file is in a folder; thousands of tests are in a few hundred files."""
    return folder in path.parents
