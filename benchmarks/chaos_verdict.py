"""Whether every job of `benchmarks/chaos.py` ended once, as it should. Pure.

It is told what was submitted, what the server says in the end, what the ranks wrote down, and which
processes are left.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

OVER = frozenset({"Succeeded", "Failed", "Cancelled"})


@dataclass(frozen=True)
class Expected:
    """A job that was submitted."""

    name: str
    nodes: int
    phases: frozenset[str]
    """How it may end."""


@dataclass(frozen=True)
class Found:
    """A job as the server has it."""

    id: str
    name: str
    phase: str
    message: str = ""


@dataclass(frozen=True)
class Mark:
    """What a rank wrote down."""

    event: str
    job: str
    rank: int
    attempt: str

    @classmethod
    def of(cls, line: str) -> "Mark":
        """As `chaos_rank.py` writes it."""
        event, job, rank, attempt = line.split()
        return cls(event, job, int(rank), attempt)


@dataclass
class Verdict:
    """What was wrong, in words."""

    lost: list[str] = field(default_factory=list)
    """Jobs that nobody knows, or that do not end."""
    wrong: list[str] = field(default_factory=list)
    """Jobs that ended in another way than they should."""
    doubled: list[str] = field(default_factory=list)
    """Jobs that are there twice, and ranks that ran beside themselves."""
    partial: list[str] = field(default_factory=list)
    """Jobs that succeeded though no attempt had all ranks to the end."""
    orphans: list[str] = field(default_factory=list)
    """Processes of jobs that are over."""
    again: int = 0
    """Jobs of which an attempt had already ended whole when it was killed with whoever watched it,
    so that another one had to be made."""

    @property
    def troubles(self) -> list[str]:
        """All that was wrong."""
        return [*self.lost, *self.wrong, *self.doubled, *self.partial, *self.orphans]


def judged(
    expected: Sequence[Expected],
    found: Iterable[Found],
    marks: Iterable[Mark],
    left: Mapping[int, str],
) -> Verdict:
    """`left` are processes that still run, with the job of each."""
    verdict = Verdict()
    by_name: dict[str, list[Found]] = defaultdict(list)
    for job in found:
        by_name[job.name].append(job)
    ends, doubled = _ends(marks)
    for wanted in expected:
        jobs = by_name[wanted.name]
        if not jobs or jobs[0].phase not in OVER:
            phase = f"{jobs[0].phase}: {jobs[0].message}" if jobs else "not there"
            verdict.lost.append(f"{wanted.name}: {phase}")
            continue
        if len(jobs) > 1:
            verdict.doubled.append(f"{wanted.name}: {len(jobs)} jobs")
        job = jobs[0]
        whole = [each for each, ranks in ends[job.id].items() if len(ranks) == wanted.nodes]
        verdict.again += len(whole) > 1
        if job.phase not in wanted.phases:
            verdict.wrong.append(f"{wanted.name}: {job.phase}: {job.message}")
        elif job.phase == "Succeeded" and not whole:
            verdict.partial.append(f"{wanted.name}: {dict(ends[job.id])}")
    verdict.doubled += [f"{job}: rank {rank}, {times} times" for (job, rank), times in doubled]
    verdict.orphans = [f"{pid}: {job}" for pid, job in sorted(left.items())]
    return verdict


def _ends(
    marks: Iterable[Mark],
) -> tuple[Mapping[str, Mapping[str, set[int]]], list[tuple[tuple[str, int], int]]]:
    """By job and attempt the ranks that ended, and the ranks that ran beside themselves."""
    ends: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    doubled: Counter[tuple[str, int]] = Counter()
    for mark in marks:
        if mark.event == "ended":
            ends[mark.job][mark.attempt].add(mark.rank)
        elif mark.event == "doubled":
            doubled[mark.job, mark.rank] += 1
    return ends, sorted(doubled.items())
