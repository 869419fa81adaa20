"""The comparison of `shared/conformance` beside the repository, for tests of every backend.

It starts a command three times a second for each job that it asks about, which takes all of a
machine. So it runs as it is meant to be run for a few cases only; about the others it asks the
server itself.

All cases run on the agent (`test/integration/agent_conformance_test.py`) and on Kubernetes. Pools
of hosts and the driver on Slurm have the agent's controllers of JobSets and Jobs, so a dozen cases
show what is theirs alone: placing pods, starting and stopping them elsewhere, and hearing how they
ended. `make conformance` runs all of them there too.
"""

import importlib.util
import logging
import shlex
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from environments import REPOSITORY
from installation import TRAINWAY, Installation

from trainway.json_types import Json

log = logging.getLogger(__name__)

FOLDER: Final = REPOSITORY.parent / "shared" / "conformance"
CASES: Final = FOLDER / "jobset"
NAMES: Final = tuple(sorted(path.stem for path in CASES.glob("*.json")))
"""Of all cases."""
DOZEN: Final = (
    "gang-of-four",  # all pods of a gang at once, on all hosts
    "what-a-container-is-told",  # the environment and the files of a pod far away
    "one-rank-fails",  # who failed is told, and the others are stopped
    "killed-by-signal",  # a signal is an exit code, also over a connection
    "grace-exceeded",  # whoever ignores SIGTERM is killed after the grace period, over there
    "restart-then-succeed",  # a whole gang goes, and comes again
    "blocking-recreate",  # and the new one waits until the old one is gone everywhere
    "backoff-once",  # one pod is replaced while the others run on
    "restart-on-failure-in-place",  # a container starts again without its pod
    "sidecar-ends-with-main",  # several containers of one pod, and their order
    "startup-in-order",  # a role starts when those before it are ready
    "success-any-launcher",  # the job succeeds, and pods that still run are stopped
)
"""The cases that matter on hosts and on Slurm, each with what it exercises there."""
PROGRAM: Final = FOLDER / "compare_jobset.py"
SETTLE_S: Final = 5.0
"""As the comparison has it: what is being stopped still counts, and leaves its last marks."""
PATIENCE_S: Final = 60.0
"""How much longer that may take on a busy machine."""
TIMEOUT_S: Final = 300.0
"""For one case."""
AGAIN: Final = 2
"""How often a case that differs is run again, with no other case beside it.

Some cases give a pod three to five seconds to start, which a busy machine does not have. What is
wrong with a backend is wrong each time.
"""


def loaded() -> ModuleType:
    """The comparison."""
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Comparison:
    """Cases on one backend of an installation."""

    installation: Installation
    on: str
    image: str = "none"
    at_once: int = 8

    def differences(
        self, names: Iterable[str], look: Callable[[Json], object] = lambda job: job
    ) -> dict[str, list[str]]:
        """What is not as recorded, by case; `look` sees each job each time it is asked about."""

        case = threading.local()

        def status_of(_command: object, name: str) -> tuple[Json, None]:
            job = self.installation.look(name)
            look(job)
            case.job = job["metadata"]["id"]
            return job["status"]["jobSet"], None

        def settled(expect: Json, status: Json, out: Path) -> list[str]:
            deadline = time.monotonic() + PATIENCE_S
            while (found := compared(expect, status, out)) and time.monotonic() < deadline:
                time.sleep(0.3)
                status, _ = status_of(None, case.job)
            return found

        comparison = loaded()
        compared: Callable[[Json, Json, Path], list[str]] = comparison.differences
        vars(comparison).update(status_of=status_of, differences=settled)
        how = Namespace(
            cmd=self._command(),
            on=self.on,
            image=self.image,
            timeout=TIMEOUT_S,
            settle=SETTLE_S,
        )

        def different(chosen: Iterable[str], at_once: int) -> dict[str, list[str]]:
            chosen = list(chosen)
            paths = [CASES / f"{name}.json" for name in chosen]
            with ThreadPoolExecutor(at_once) as threads:
                outcomes = threads.map(lambda path: comparison.run_case(path, how), paths)
                pairs = zip(chosen, outcomes, strict=True)
                return {name: lines for name, lines in pairs if lines}

        found = different(names, self.at_once)
        for _ in range(AGAIN):
            if found:
                log.warning("These cases differ, and are run again: %s", found)
                found = different(found, at_once=1)
        return found

    @contextmanager
    def literally(self, *names: str) -> Iterator[None]:
        """Run the comparison itself beside the block; in the end it agrees about these cases."""
        chosen = (word for name in names for word in ("--case", name))
        words = ["--cmd", str(TRAINWAY), "--on", self.on, "--image", self.image, *chosen]
        words += ["--settle", str(SETTLE_S), "--timeout", str(TIMEOUT_S), str(CASES)]
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *words],
            env=self.installation.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with process:
            try:
                yield
            except BaseException:
                process.kill()
                raise
            said, _ = process.communicate(timeout=TIMEOUT_S * len(names))
        assert process.returncode == 0, said[-8000:]
        assert f"{len(names)}/{len(names)} passed" in said

    def _command(self) -> str:
        """The command line of the installation, whatever variables this process has."""
        variables = (f"{name}={value}" for name, value in self.installation.environ().items())
        return shlex.join(["env", "-i", *variables, str(TRAINWAY)])
