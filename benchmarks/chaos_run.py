"""The run of `benchmarks/chaos.py`: jobs on this machine, SSH hosts and Slurm while all is killed.

For every job two things are killed: ranks, servers, agents, hosts, nodes of Slurm, cables
(`chaos_kills.py`). Most jobs shall succeed whatever happens to them, some fail by themselves, and
some are cancelled. In the end every job has ended once, as it should, and nothing runs any more
(`chaos_verdict.py`). 500 jobs unless a number is given; a second one is the seed. Exit status 1 if
anything was wrong. It needs root, sshd and Slurm, as the tests do.
"""

import heapq
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from machine import SEARCH_PATH
from switch import UnavailableError

from benchmarks import suite
from benchmarks.chaos_kills import Broken, Mend, broken
from benchmarks.chaos_site import PLACES, Site, site
from benchmarks.chaos_verdict import OVER, Expected, Found, Mark, Verdict, judged
from benchmarks.suite import Row, Rows
from benchmarks.workbench import REPOSITORY, container_job
from trainway import errors
from trainway.sdk.rest import Submission

JOBS: Final = 500
KILLS_FOR_EACH: Final = 2
MOST_LIVE: Final = 30
"""So many jobs are under way at most: two cores have to run them."""
PAUSE_S: Final = 0.2
PATIENCE_S: Final = 900.0
"""For the jobs that are left when nothing is killed any more."""
RANK: Final = REPOSITORY / "benchmarks" / "chaos_rank.py"
ALWAYS: Final = 1_000_000
ENVIRON: Final = {"PATH": SEARCH_PATH}
SUCCEEDS, FAILS, IS_CANCELLED = (
    frozenset({"Succeeded"}),
    frozenset({"Failed"}),
    frozenset({"Cancelled", "Succeeded"}),
)


def main(arguments: list[str]) -> int:
    """Run, print, judge."""
    numbers = [int(word) for word in arguments if word.isdigit()]
    if len(numbers) != len(arguments):
        print("usage: python benchmarks/chaos.py [JOBS [SEED]]")
        return 2
    jobs, seed = [*numbers, *(JOBS, time.time_ns() % 10**6)[len(numbers) :]][:2]
    return suite.run([], {"chaos": None}, lambda _: rows(jobs, seed), UnavailableError)


def rows(jobs: int, seed: int) -> Rows:
    """One run, and what was wrong with it."""
    with site() as here:
        chaos = Chaos(here, random.Random(seed), jobs)  # noqa: S311 - to be repeated
        began = time.monotonic()
        chaos.play()
        verdict = chaos.verdict()
        took = time.monotonic() - began
        kept = here.kept() if verdict.troubles else None
    yield from figures(chaos, verdict, took)
    for trouble in verdict.troubles:
        print(f"  {trouble}")
    print(f"seed {seed}" + (f"; what the jobs left is in {kept}" if kept else ""))


def figures(chaos: "Chaos", verdict: Verdict, took: float) -> Iterator[Row]:
    """What is wrong has the limit 0."""
    phases = ", ".join(f"{count} {phase}" for phase, count in chaos.phases.most_common())
    yield Row("jobs", len(chaos.expected), "", None, phases)
    done = ", ".join(f"{count} {what}" for what, count in chaos.broken.most_common())
    yield Row("kills", chaos.broken.total(), "", None, done)
    yield Row("time", took, "s")
    yield Row("jobs lost", len(verdict.lost), "", 0)
    yield Row("jobs that ended wrong", len(verdict.wrong), "", 0)
    yield Row("jobs or ranks doubled", len(verdict.doubled), "", 0)
    yield Row("partial gangs", len(verdict.partial), "", 0)
    yield Row("orphans", len(verdict.orphans), "", 0)
    beside = "the word of their end was lost with whoever watched them"
    yield Row("jobs that ran to their end twice", verdict.again, "", None, beside)


@dataclass
class Chaos:
    """One run."""

    site: Site
    dice: random.Random
    jobs: int
    expected: list[Expected] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    _mends: list[tuple[float, int, Mend]] = field(default_factory=list)
    _to_cancel: list[str] = field(default_factory=list)

    def play(self) -> None:
        """Submit and kill in turns, then mend everything and wait for the end."""
        while len(self.expected) < self.jobs:
            if self._live() < MOST_LIVE:
                self._submit()
            for _ in range(KILLS_FOR_EACH):
                self._break()
                time.sleep(self.dice.uniform(0, 2 * PAUSE_S))
            self._mend(time.monotonic())
            if self._to_cancel and self.dice.random() < 0.5:
                self._cancel(self._to_cancel.pop(0))
        while self.broken.total() < self.jobs * KILLS_FOR_EACH:
            self._break()
            self._mend(time.monotonic())
            time.sleep(PAUSE_S)
        self._mend(float("inf"))
        deadline = time.monotonic() + PATIENCE_S
        while self._live() and time.monotonic() < deadline:
            time.sleep(PAUSE_S)

    def verdict(self) -> Verdict:
        """What was wrong."""
        deadline = time.monotonic() + 30
        while self.site.ranks() and time.monotonic() < deadline:
            time.sleep(PAUSE_S)  # a host that was cut off hears of it only now
        found = [
            Found(
                job["metadata"]["id"],
                job["metadata"]["name"],
                job["status"]["phase"],
                str(job["status"].get("message", "")),
            )
            for job in self._listed()
        ]
        self.phases = Counter(job.phase for job in found)
        file = self.site.marks / "marks"
        lines = file.read_text().splitlines() if file.exists() else []
        left = {each.pid: each.job for each in self.site.ranks()}
        return judged(self.expected, found, (Mark.of(line) for line in lines), left)

    def _submit(self) -> None:
        number, dice = len(self.expected), self.dice
        place = PLACES[number % len(PLACES)]
        phases = dice.choices((SUCCEEDS, FAILS, IS_CANCELLED), (80, 10, 10))[0]
        name, nodes = f"chaos-{number}", dice.choice((1, 1, 2, 3))
        code = 7 if phases == FAILS else 0
        restarts = 0 if phases == FAILS else ALWAYS
        job = gang(name, nodes, self._command(dice.uniform(0.2, 3.0), code), restarts)
        options = {"backend": place, "workdir": str(self.site.marks), "environ": ENVIRON}
        submission = Submission([job], options)
        shown = self._insist(lambda server: server.submit(submission)[0])
        self.expected.append(Expected(name, nodes, phases))
        if phases == IS_CANCELLED:
            self._to_cancel.append(shown["metadata"]["id"])

    def _command(self, seconds: float, code: int) -> list[str]:
        program = ["/usr/bin/python3", "-I", "-S", str(RANK)]
        return [*program, str(self.site.marks), f"{seconds:.2f}", str(code)]

    def _cancel(self, job: str) -> None:
        with suppress(errors.ConflictError):  # it has ended by itself
            self._insist(lambda server: server.act(job, "cancel"))

    def _break(self) -> None:
        done: Broken = broken(self.site, self.dice)
        self.broken[done.what] += 1
        if done.mend is not None:
            due = time.monotonic() + done.after_s
            heapq.heappush(self._mends, (due, self.broken.total(), done.mend))

    def _mend(self, until: float) -> None:
        while self._mends and self._mends[0][0] <= until:
            heapq.heappop(self._mends)[2]()

    def _live(self) -> int:
        return sum(job["status"]["phase"] not in OVER for job in self._listed())

    def _listed(self) -> list[dict[str, Any]]:
        most = max(1, self.jobs * 2)
        jobs: list[dict[str, Any]] = self._insist(
            lambda server: server.page(limit=most, summary=True)[0]
        )
        return jobs

    def _insist(self, question: Any) -> Any:
        """Ask again while the server is away, with the same key: it was killed a moment ago."""
        for attempt in itertools.count():
            try:
                return self.site.home.ask(question)
            except errors.UnavailableError as error:
                if attempt == 20:
                    raise
                print(f"  asked again: {error}", file=sys.stderr)
        raise AssertionError


def gang(name: str, nodes: int, command: list[str], restarts: int) -> dict[str, Any]:
    """A JobSet of so many ranks, each of which takes half a CPU."""
    job = container_job(command)
    job["metadata"]["name"] = name
    job["spec"]["failurePolicy"] = {"maxRestarts": restarts}
    batch = job["spec"]["replicatedJobs"][0]["template"]["spec"]
    batch |= {"parallelism": nodes, "completions": nodes, "completionMode": "Indexed"}
    container = batch["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "500m"}}
    return job
