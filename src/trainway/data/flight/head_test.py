"""What the head decides: who has which files, and where rows are, as workers come and go."""

import pyarrow as pa
import pytest

from trainway.data.flight import head as heads
from trainway.data.flight.assignment import Layout, Segment, assign
from trainway.data.flight.head import PATIENCE_S, READERS_S, Head, Orders, Report
from trainway.data.flight.plan import Plan, TableFile, encoded
from trainway.data.flight.row_range import RowRange
from trainway.errors import UnavailableError, UsageError

PLAN = Plan("t", "", tuple(TableFile(f"/{name}", "1", 10) for name in "abcd"))
ROWS = [100, 50, 0, 30]


def test_neighbouring_files_go_to_the_same_worker() -> None:
    assert assign([10, 10, 10, 10], ["x", "y"], {}) == {0: "x", 1: "x", 2: "y", 3: "y"}
    assert assign([30, 10, 10], ["x", "y"], {}) == {0: "x", 1: "y", 2: "y"}
    assert assign([1, 1], [], {}) == {}


def test_files_of_a_lost_worker_go_to_those_that_have_least() -> None:
    before = {0: "x", 1: "y", 2: "z", 3: "z"}
    after = assign([5, 50, 20, 7], ["x", "y"], before)
    assert after == {0: "x", 1: "y", 2: "x", 3: "x"}


def test_segments_join_neighbours_and_skip_empty_files() -> None:
    layout = Layout(ROWS)
    owners = {0: "x", 1: "x", 2: "y", 3: "y"}
    assert layout.segments(RowRange(20, 160), owners) == [
        Segment("x", RowRange(20, 150)),
        Segment("y", RowRange(150, 160)),
    ]
    assert layout.segments(RowRange(7, 7), owners) == []


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Workers:
    """Workers that load at once whatever they are told to have."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.orders: dict[str, Orders] = {}
        self.has: dict[str, dict[int, int]] = {}
        self.placed: set[str] = set()

    def report(self, *names: str) -> None:
        for name in names:
            counts = self.has.setdefault(name, {})
            version = PLAN.version if name in self.orders else ""
            report = Report(name, f"{name}:1", version, dict(counts), name in self.placed)
            orders = self.orders[name] = self.head.join(report)
            counts |= {file: ROWS[file] for file in orders.files}
            if orders.counts is not None:
                self.placed.add(name)

    def lose(self, name: str) -> Orders:
        """It is killed, and its disk is lost."""
        self.has[name] = {}
        self.placed.discard(name)
        return self.orders.pop(name)


def loaded(clock: Clock) -> Workers:
    workers = Workers(Head(PLAN, 2, clock, patience_s=10))
    for _ in range(4):
        workers.report("x", "y")
    return workers


def test_a_cache_becomes_ready_step_by_step() -> None:
    workers = Workers(Head(PLAN, 2, Clock()))
    workers.report("x")
    assert workers.head.missing() == "1 of 2 workers have reported"
    with pytest.raises(UnavailableError, match="not ready: 1 of 2 workers"):
        workers.head.share(["0", "1"])
    workers.report("y", "x", "y")
    assert workers.head.missing() == "2 of 4 files are loaded"
    workers.report("x")
    assert workers.head.missing() == "0 of 2 workers know their rows"
    workers.report("y", "x", "y")
    assert workers.head.missing() == ""
    assert workers.orders["y"].is_ready


def test_a_share_is_one_place_for_each_worker_in_order() -> None:
    head = loaded(Clock()).head
    assert head.share(["0", "1"]).segments == [
        ("x:1", [RowRange(0, 150)]),
        ("y:1", [RowRange(150, 180)]),
    ]
    assert head.share(["1", "2"]).segments == [
        ("x:1", [RowRange(90, 150)]),
        ("y:1", [RowRange(150, 180)]),
    ]


def test_a_shuffled_share_has_the_same_rows_in_blocks() -> None:
    found = loaded(Clock()).head.share(["0", "1", "3", "1"])
    ranges = sorted(each for _, ranges in found.segments for each in ranges)
    assert found.rows == 180
    assert sum(map(len, ranges)) == 180


def test_a_share_without_rows_is_read_at_some_worker() -> None:
    found = loaded(Clock()).head.share(["180", "181"])
    assert (found.rows, found.segments) == (0, [("x:1", [])])


def test_files_of_a_silent_worker_are_loaded_elsewhere() -> None:
    clock = Clock()
    workers = loaded(clock)
    clock.now = 9
    workers.report("x")
    assert workers.head.missing() == ""  # not silent for long enough
    clock.now = 18
    workers.report("x")
    assert workers.head.share(["0", "2"]).segments == [("x:1", [RowRange(0, 90)])]
    with pytest.raises(UnavailableError, match="x is loading these rows again"):
        workers.head.share(["1", "2"])
    workers.report("x", "x")
    assert workers.head.share(["0", "1"]).segments == [("x:1", [RowRange(0, 180)])]


def test_a_worker_that_comes_back_empty_gets_its_files_again() -> None:
    workers = loaded(Clock())
    before = workers.lose("y")
    workers.report("y")
    assert workers.orders["y"].files == before.files
    with pytest.raises(UnavailableError, match="y is loading"):
        workers.head.share(["0", "1"])
    workers.report("y", "y")
    assert len(workers.head.share(["0", "1"]).segments) == 2


def test_a_new_head_leaves_files_where_they_are() -> None:
    workers = loaded(Clock())
    workers.head = Head(PLAN, 2, Clock())
    has = dict(workers.has)
    workers.report("y", "x", "y")
    assert workers.has == has
    assert workers.head.missing() == ""


def test_a_new_head_does_not_wait_for_ever_for_a_worker_that_is_lost() -> None:
    clock = Clock()
    workers = loaded(clock)
    workers.head = Head(PLAN, 2, clock, patience_s=10)
    workers.report("x")
    assert workers.head.missing() == "1 of 2 workers have reported"
    clock.now = 11
    workers.report("x", "x", "x")
    assert workers.head.missing() == ""


def test_an_error_that_lasts_ends_a_cache_that_was_never_ready() -> None:
    head = Head(PLAN, 1, Clock())
    head.join(Report("x", "x:1", error="gone for a moment"))
    assert head.fatal() == ""
    head.join(Report("x", "x:1", error="no such file", is_final=True))
    assert head.fatal() == "x: no such file"
    workers = loaded(Clock())
    workers.head.join(Report("x", "x:1", error="no such file", is_final=True))
    assert workers.head.fatal() == ""


def test_an_error_that_may_pass_is_told_while_files_are_missing() -> None:
    workers = Workers(Head(PLAN, 1, Clock()))
    workers.report("x")
    workers.head.join(Report("x", "x:1", PLAN.version, error="the disk is full"))
    assert workers.head.missing() == "0 of 4 files are loaded; x: the disk is full"


def test_a_table_without_files_is_ready_and_empty() -> None:
    head = Head(Plan("t", "", ()), 1, Clock())
    orders = head.join(Report("x", "x:1"))
    assert orders.counts == []
    head.join(Report("x", "x:1", orders.version, {}, is_placed=True))
    assert head.missing() == ""
    assert head.share(["0", "3"]).segments == [("x:1", [])]


@pytest.mark.parametrize(
    "words", [[], ["1"], ["0", "x"], ["0", "1", "2"], ["-1", "2"], ["0", "9" * 30], ["\u0966", "1"]]
)
def test_paths_that_are_none(words: list[str]) -> None:
    with pytest.raises(UsageError, match="path"):
        loaded(Clock()).head.share(words)


def test_figures_count_readers_of_the_last_minutes() -> None:
    clock = Clock()
    head = Head(PLAN, 1, clock)
    workers = Workers(head)
    assert head.figures() == {
        "ready": False, "reason": "0 of 1 workers have reported", "files": 4, "bytes": 40,
        "rows": None, "readers": 0,
    }  # fmt: skip
    for _ in range(3):
        workers.report("x")
    for peer in ("a", "b", "a"):
        head.note_reader(peer)
    found = head.figures()
    assert (found["ready"], found["rows"], found["readers"]) == (True, sum(ROWS), 2)
    clock.now += READERS_S - 1
    workers.report("x")
    head.note_reader("b")
    clock.now += 2
    assert head.figures()["readers"] == 1


def test_what_is_told_of_a_table_is_made_once() -> None:
    planned = Plan("t", encoded(pa.schema({"id": pa.int64()})), ())
    assert planned.arrow_schema() is planned.arrow_schema()
    assert planned.version is planned.version


def test_whoever_is_gone_and_has_nothing_is_forgotten() -> None:
    clock = Clock()
    head = Head(PLAN, 1, clock)
    workers = Workers(head)
    workers.report("x", "x", "x")
    for number in range(3):  # as one does that has another name after each restart
        head.join(Report(f"old-{number}", "old:1"))
    assert len(head.describe()["workers"]) == 4
    clock.now += PATIENCE_S + 1
    workers.report("x")
    assert [each["name"] for each in head.describe()["workers"]] == ["x"]


def test_nobody_makes_up_more_workers_than_a_cache_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heads, "_MOST_WORKERS", 2)
    head = Head(PLAN, 1, Clock())
    head.join(Report("x", "x:1"))
    head.join(Report("y", "y:1"))
    with pytest.raises(UsageError, match="has 2 workers already"):
        head.join(Report("z", "z:1"))
    head.join(Report("x", "x:1"))
