from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.base.event_loop import Timer
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay import accounting
from trainway.agent.slurm.relay.cluster_queue import FIRST, GRACE, LONGEST, SHORTEST, ClusterQueue
from trainway.agent.slurm.relay.queue_states import SEPARATOR
from trainway.json_types import Json


class Cluster:
    """A queue with everything around it played: the clock, the loop and the programs."""

    def __init__(self, *numbers: str) -> None:
        self.now = 100.0
        self.timer: Timer | None = None
        self.delay = 0.0
        self.lines: dict[str, tuple[str, str]] = dict.fromkeys(numbers, ("PENDING", "Resources"))
        self.books = ""
        self.is_silent = False
        self.asked: list[str] = []
        self.jobs = {number: played(number) for number in numbers}
        self.news: list[tuple[str, Json]] = []
        self.ends: list[tuple[str, str]] = []
        self.troubles: list[str] = []
        around: Any = self
        self.queue = ClusterQueue(around, around, around, lambda: self.now, self._all)
        self.queue.on_news = lambda job, fields: self.news.append((job.number, dict(fields)))
        self.queue.on_end = self._on_end
        self.bare: Callable[[str], str] = bare
        self.queue.on_trouble = lambda failure: self.troubles.append(str(failure or ""))

    def _all(self) -> list[Any]:
        return list(self.jobs.values())

    def _on_end(self, job: Any, fields: Mapping[str, Any]) -> None:
        job.is_over = True
        self.ends.append((job.number, fields["state"]))

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        self.delay, self.timer = delay, Timer(self.now + delay, callback)
        return self.timer

    def ask(self, done: Callable[[Result], None]) -> None:
        self.asked.append("squeue")
        text = "".join(
            SEPARATOR.join((number, self.bare(number), state, reason, "main", "1", "", "")) + "\n"
            for number, (state, reason) in self.lines.items()
        )
        if self.is_silent:
            done(Result(["squeue"], 1, b"", b"error: Unable to contact slurm controller"))
        else:
            done(Result(["squeue"], 0, text.encode(), b""))

    def run(self, argv: Sequence[str], done: Callable[[Result], None]) -> None:
        self.asked.append(" ".join(argv))
        done(Result(list(argv), 0, self.books.encode(), b""))

    def round(self) -> None:
        """Let the time come for the next question."""
        timer, self.timer = self.timer, None
        assert timer is not None
        self.now = max(self.now, timer.when)
        timer.run()


def bare(number: str) -> str:
    """The number that a job of an array has for itself."""
    array, _, rank = number.partition("_")
    return str(int(array) + int(rank or 0))


def played(number: str) -> Any:
    return SimpleNamespace(
        number=number,
        state=None,
        seen_at=0.0,
        is_over=False,
        missing_since=None,
        doubted="",
        journal=SimpleNamespace(ended=False, last=-1),
    )


@pytest.fixture
def cluster() -> Cluster:
    found = Cluster("1", "2")
    found.queue.poke()
    found.round()
    return found


def test_one_question_tells_of_all_jobs(cluster: Cluster) -> None:
    assert cluster.asked == ["squeue"]
    assert [(number, fields["position"]) for number, fields in cluster.news] == [("1", 1), ("2", 2)]


def test_questions_become_rare_while_nothing_changes_and_frequent_when_it_does(
    cluster: Cluster,
) -> None:
    delays = []
    for _ in range(12):
        cluster.round()
        delays.append(cluster.delay)
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST
    cluster.lines["1"] = ("RUNNING", "None")
    cluster.round()
    assert cluster.delay == SHORTEST
    cluster.queue.poke()
    assert cluster.delay <= SHORTEST


def test_many_pokes_are_one_question(cluster: Cluster) -> None:
    for _ in range(10):
        cluster.queue.poke()
    cluster.round()
    assert cluster.asked == ["squeue"] * 2


def test_nothing_is_asked_when_nobody_wants_to_know(cluster: Cluster) -> None:
    cluster.lines = dict.fromkeys(cluster.lines, ("COMPLETED", "None"))
    cluster.round()
    assert sorted(cluster.ends) == [("1", "COMPLETED"), ("2", "COMPLETED")]
    asked = len(cluster.asked)
    cluster.round()
    assert len(cluster.asked) == asked
    assert cluster.timer is None


def test_a_node_failure_may_be_followed_by_a_requeue(cluster: Cluster) -> None:
    cluster.lines["1"] = ("NODE_FAIL", "None")
    cluster.round()
    cluster.lines["1"] = ("PENDING", "BeginTime")
    cluster.round()
    assert cluster.ends == []
    for _ in range(2):
        cluster.lines["1"] = ("NODE_FAIL", "None")
        cluster.round()
    assert cluster.ends == [("1", "NODE_FAIL")]


def test_jobs_that_left_the_queue_are_looked_up_with_one_more_question(cluster: Cluster) -> None:
    cluster.queue.accounting = accounting.DATABASE
    cluster.lines, cluster.books = {}, "1|TIMEOUT|0:0\n2|RUNNING|0:0\n"
    asked = len(cluster.asked)
    cluster.round()
    assert cluster.asked[asked:][0] == "squeue"
    assert "--jobs=1,2" in cluster.asked[asked:][1]
    assert len(cluster.asked) == asked + 2
    assert cluster.ends == [("1", "TIMEOUT")]


@pytest.mark.parametrize(
    ("kind", "asked", "books"),
    [
        (accounting.DATABASE, "--jobs=7", "7_2|TIMEOUT|0:0\n7_[3-4]|PENDING|0:0\n"),
        (accounting.TEXT, "--jobs=9", "9|TIMEOUT\n"),
    ],
)
def test_a_job_of_an_array_has_a_bare_number_in_a_text_file(
    kind: str, asked: str, books: str
) -> None:
    cluster = Cluster("7_2", "7_3")
    cluster.queue.accounting = kind
    cluster.queue.poke()
    cluster.round()
    del cluster.lines["7_2"]
    cluster.books = books
    cluster.round()
    assert asked in cluster.asked[-1].split()
    assert cluster.ends == [("7_2", "TIMEOUT")]


def test_a_job_of_an_array_that_never_began_is_gone_when_it_is_cancelled() -> None:
    cluster = Cluster("7_0", "7_2", "7_3")
    cluster.queue.poke()
    cluster.round()
    cluster.jobs["7_0"].journal.last = 3
    cluster.lines = {"7_3": cluster.lines["7_3"]}
    cluster.round()
    assert cluster.ends == []  # both had begun, as their numbers and journals say
    cluster = Cluster("7_0", "7_1")
    cluster.bare = lambda _number: "7"
    cluster.queue.poke()
    cluster.round()
    del cluster.lines["7_1"]
    cluster.round()
    assert cluster.ends == [("7_1", "CANCELLED")]


def test_a_job_that_nobody_knows_is_lost_after_a_while(cluster: Cluster) -> None:
    del cluster.lines["1"]
    cluster.round()
    left = cluster.now
    cluster.jobs["2"].journal.ended = True
    del cluster.lines["2"]
    cluster.round()
    assert cluster.ends == [("2", "COMPLETED")]
    while not cluster.jobs["1"].is_over:
        assert cluster.now < left + 2 * GRACE
        cluster.round()
    assert cluster.now - left >= GRACE
    assert cluster.ends[-1] == ("1", "LOST")


def test_a_job_that_comes_back_was_never_lost(cluster: Cluster) -> None:
    line = cluster.lines.pop("1")
    cluster.round()
    cluster.lines["1"] = line
    cluster.now += GRACE
    cluster.round()
    del cluster.lines["1"]
    cluster.round()
    assert cluster.ends == []


def test_nothing_is_concluded_while_slurm_is_silent(cluster: Cluster) -> None:
    cluster.is_silent = True
    cluster.now += 10 * GRACE
    cluster.round()
    assert cluster.ends == []
    assert "Slurm does not answer" in cluster.troubles[-1]
    answers: list[bool] = []
    cluster.queue.when_asked(answers.append)
    cluster.round()
    cluster.is_silent = False
    cluster.queue.when_asked(answers.append)
    cluster.round()
    assert answers == [False, True]
    assert cluster.troubles[-1] == ""


def test_only_the_first_are_told_of_their_position() -> None:
    cluster = Cluster(*(str(number) for number in range(1, 3 * FIRST)))
    cluster.queue.poke()
    cluster.round()
    cluster.news.clear()
    cluster.lines["1"] = ("RUNNING", "None")
    cluster.round()
    assert {number for number, _ in cluster.news} == {str(n) for n in range(1, FIRST + 2)}
