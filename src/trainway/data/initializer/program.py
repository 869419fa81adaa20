"""An initializer at work: fetches, says how it comes on, and why it cannot.

Where a job runs on several hosts, each pod that needs the data brings it to its own host first. So
what is there already is not fetched again: when all of it is here, that is written down for the
job, and whoever comes at the same time waits for the one that fetches.
"""

import argparse
import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from trainway.data import file_lock
from trainway.data.cache import Cache, user_cache
from trainway.data.copying import copy
from trainway.data.disk import disk_error, in_words
from trainway.data.flight.initialization import SCHEME, await_cache
from trainway.data.initializer.request import (
    DATASET,
    REFUSED,
    STEPS,
    STORAGE_URI,
    WORKSPACE,
    Request,
    request_of,
)
from trainway.data.transfer import Options, Outcome
from trainway.errors import (
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TrainwayError,
    UsageError,
)

FAILED: Final = 1
_REFUSALS: Final = (UsageError, ForbiddenError, NotFoundError, InvalidError)
_JOB: Final = "TRAINWAY_JOB_ID"
_PAUSE_S: Final = 5.0
_KEYS_HINT: Final = (
    "hint: a TrainJob sets ACCESS_KEY_ID, SECRET_ACCESS_KEY, ENDPOINT and REGION in env of the"
    " source, or in the Secret of its secretRef"
)


def main(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Fetch what the variables say; the exit code says how it went."""
    asked = _parser().parse_args(arguments)
    env = os.environ if environment is None else environment
    report = Report(asked.step)
    uri = ""
    try:
        if asked.step == DATASET and env.get(STORAGE_URI, "").startswith(SCHEME):
            uri = env[STORAGE_URI]
            report.say(f"{uri} is ready: {await_cache(uri, env):,} rows")
            return 0
        request = request_of(asked.step, env)
        uri = str(request.location)
        os.environ.update(request.environment)
        for name in request.unset:
            os.environ.pop(name, None)
        cache = user_cache(env) if asked.cached else None
        initialize(Path(asked.target or f"{WORKSPACE}/{asked.step}"), request, env, report, cache)
    except TrainwayError as error:
        what = "" if uri in error.message else f"{uri}: "
        report.say(f"error: {what}{error.message}")
        if error.hint:
            report.say(f"hint: {error.hint}")
        if uri.startswith("s3://") and not isinstance(error, UsageError):
            report.say(_KEYS_HINT)
        return REFUSED if isinstance(error, _REFUSALS) else FAILED
    except OSError as error:
        report.say(f"error: {uri}: {error.strerror}: {error.filename}")
        return FAILED
    return 0


def initialize(
    target: Path,
    request: Request,
    environment: Mapping[str, str],
    report: "Report",
    cache: Cache | None = None,
) -> None:
    """Have in a folder what is asked for."""
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, target) from None
    note = target.parent / f".{target.name}.initialized"
    job = environment.get(_JOB, "")
    wanted = {"job": job, "uri": str(request.location), **asdict(request.patterns)}
    with _alone(note.with_suffix(".lock"), report):
        if job and _noted(note) == json.loads(json.dumps(wanted)):
            report.say(f"{request.location} is here already")
            return
        note.unlink(missing_ok=True)
        report.say(f"fetching {request.location} to {target}")
        outcome = _fetched(request, target, report, cache)
        report.end(outcome, target)
        if job:
            note.write_text(json.dumps(wanted), "utf-8")


@dataclass
class Report:
    """What is said while it goes on, to the log of the step."""

    step: str
    write: Callable[[str], object] = lambda line: print(line, flush=True)  # noqa: T201 - a log
    clock: Callable[[], float] = time.monotonic
    _told: float | None = None

    def say(self, text: str) -> None:
        """One line."""
        self.write(f"{self.step}: {text}")

    def progress(self, arrived: int, total: int) -> None:
        """So many bytes are here; not every one of them is worth a line."""
        now = self.clock()
        if self._told is None:
            self._told = now
        if now - self._told >= _PAUSE_S:
            self._told = now
            share = f" ({100 * arrived // total}%)" if total else ""
            self.say(f"{in_words(arrived)} of {in_words(total)}{share}")

    def end(self, outcome: Outcome, target: Path) -> None:
        """How much it was, and how much of it was here before."""
        files = f"{outcome.files} file{'s' * (outcome.files != 1)}"
        text = f"{files}, {in_words(outcome.size)} in {target}"
        self.say(f"{text}; {in_words(outcome.fetched)} were fetched")


def _fetched(request: Request, target: Path, report: Report, cache: Cache | None) -> Outcome:
    options = Options(progress=report.progress, may_link=True, say=report.say)
    uri = str(request.location) if not request.location.query else _with_query(request)
    outcome = copy(uri, f"{target}/", request.patterns, options, cache)
    if not outcome.files:
        said = []
        if request.patterns.ignore:
            said.append(f"left out are {', '.join(request.patterns.ignore)}")
        if request.patterns.include:
            said.insert(0, f"wanted are {', '.join(request.patterns.include)}")
        raise NotFoundError(
            f"none of the files of {request.location} is wanted",
            hint=f"{' and '.join(said)}: see INCLUDE_PATTERNS and IGNORE_PATTERNS",
        )
    return outcome


def _with_query(request: Request) -> str:
    return f"{request.location}?{request.location.query}"


@contextlib.contextmanager
def _alone(lock: Path, report: Report) -> Iterator[None]:
    """Nobody else fetches to the same folder meanwhile, as far as its file system can tell."""
    handle = None
    try:
        handle = file_lock.take(lock, waits=False)
        if handle is None:
            report.say("waiting for another process that fetches it")
            handle = file_lock.take(lock)
    except OSError as error:
        report.say(f"{lock} cannot be locked: {error.strerror}")
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _noted(note: Path) -> object:
    try:
        return json.loads(note.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainway.data.initializer",
        description="Fetch what STORAGE_URI names, before training starts.",
    )
    parser.add_argument("step", choices=STEPS, help="What it is: a data set or a model.")
    parser.add_argument("--target", help=f"The folder to fill (default {WORKSPACE}/STEP).")
    parser.add_argument(
        "--cached", action="store_true", help="Keep it in the cache of this machine, too."
    )
    return parser
