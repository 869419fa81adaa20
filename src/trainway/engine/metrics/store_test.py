from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine, create_engine, func, select

from trainway.engine.database import migrate, open_database
from trainway.engine.metrics.downsampling import survivors
from trainway.engine.metrics.report import Position, Report
from trainway.engine.metrics.store import MetricStore, Point, Range, Summary
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.store import Store
from trainway.engine.tables import JOBS, POINTS, SERIES

SPEC = JobSpec([], {}, {}, [])


def job(job_id: str) -> JobRecord:
    return JobRecord(id=job_id, name="demo", namespace="default", kind="JobSet", backend="local")


def losses(*values: float, start: int = 1) -> list[tuple[str, Report]]:
    return [
        ("a", Report(float(step), {"loss": value}, step))
        for step, value in enumerate(values, start)
    ]


def rows(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        series, points = (
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (SERIES, POINTS)
        )
    return series, points


@pytest.fixture
def engine(new_database: Callable[[], str]) -> Iterator[Engine]:
    made = open_database(new_database())
    Store(made).add_all([(job("a"), SPEC, []), (job("b"), SPEC, [])])
    yield made
    made.dispose()


def test_what_was_reported_comes_back_in_its_order(engine: Engine) -> None:
    store = MetricStore(engine)
    store.append([*losses(2.0, 1.0), ("b", Report(1.0, {"x": 5.0}))])
    store.append([("a", Report(7.0, {"acc": 0.5, "loss": 3.0}, 3, 0.25))])
    again = MetricStore(engine)
    again.append([("a", Report(8.0, {"loss": 2.5}, 1))])
    assert again.names("a") == ["acc", "loss"]
    assert again.points("a", "acc") == [Point(3, 3, 0.25, 7.0, 0.5)]
    assert again.points("b", "x") == [Point(1, None, None, 1.0, 5.0)]
    assert [(p.seq, p.step, p.value) for p in again.points("a", "loss")] == [
        (1, 1, 2.0),
        (2, 2, 1.0),
        (3, 3, 3.0),
        (4, 1, 2.5),
    ]
    assert again.summaries(["a", "b", "c"]) == {
        "a": {"acc": Summary(0.5, 0.5, 0.5, 3), "loss": Summary(2.5, 1.0, 3.0, 1)},
        "b": {"x": Summary(5.0, 5.0, 5.0, None)},
        "c": {},
    }
    assert again.last_seq("a") == 4
    assert [(name, p.seq) for name, p in again.after("a", 2, 10)] == [
        ("acc", 3),
        ("loss", 3),
        ("loss", 4),
    ]
    assert again.points("a", "nothing") == again.points("c", "loss") == []


@pytest.mark.parametrize(
    ("wanted", "steps"),
    [
        (Range(), [1, 2, 3, 4]),
        (Range(after=2), [3, 4]),
        (Range(min_step=2, max_step=3), [2, 3]),
        (Range(min_time=3.0, max_time=3.0), [3]),
    ],
)
def test_a_range_of_a_series(engine: Engine, wanted: Range, steps: list[int]) -> None:
    store = MetricStore(engine)
    store.append(losses(1.0, 2.0, 3.0, 4.0))
    assert [point.step for point in store.points("a", "loss", wanted)] == steps


def test_a_long_series_stays_within_its_bound_and_shows_its_extremes(engine: Engine) -> None:
    store = MetricStore(engine, points_limit=40)
    values = [float(n * 7919 % 1009) for n in range(700)]
    for start in range(0, 700, 7):
        store.append(losses(*values[start : start + 7], start=start + 1))
        assert rows(engine)[1] <= 40
    kept = store.points("a", "loss")
    assert (kept[0].value, kept[-1].value) == (values[0], values[-1])
    assert store.summaries(["a"])["a"]["loss"] == Summary(values[-1], min(values), max(values), 700)
    assert min(p.value for p in kept) == min(values)
    assert max(p.value for p in kept) == max(values)
    raw = [Point(n, n, None, float(n), value) for n, value in enumerate(values, 1)]
    assert any(set(survivors(raw, level)) <= set(kept) for level in range(4, 9))
    assert len(store.points("a", "loss", most=8)) <= 8


def test_a_job_has_so_many_series_and_no_more(engine: Engine) -> None:
    store = MetricStore(engine, series_limit=3)
    store.append([("a", Report(1.0, {f"x{n}": 1.0 for n in range(5)}))])
    store.append([("a", Report(2.0, {"x4": 1.0, "x0": 2.0}))])
    assert store.names("a") == ["x0", "x1", "x2"]
    assert len(store.points("a", "x0")) == 2


def test_names_that_a_database_cannot_hold_are_written_another_way(engine: Engine) -> None:
    store = MetricStore(engine)
    store.append([("a", Report(1.0, {"x\0": 1.0, "\ud800": 2.0, "é" * 64: 3.0}))])
    assert store.names("a") == ["\\ud800", "x\\x00", "é" * 64]


def test_a_history_goes_with_its_job_and_cannot_come_back(engine: Engine) -> None:
    jobs = Store(engine)
    jobs.metrics.append([*losses(1.0, 2.0), ("b", Report(1.0, {"x": 5.0, "y": 6.0}))])
    jobs.delete("a")
    jobs.metrics.append([*losses(3.0), ("b", Report(2.0, {"x": 7.0}))])
    assert rows(engine) == (2, 3)
    assert [jobs.metrics.remove_one("b") for _ in range(3)] == [True, True, False]
    assert rows(engine) == (0, 0)


def test_a_job_that_is_deleted_takes_its_history_along_by_the_tables_alone(engine: Engine) -> None:
    store = MetricStore(engine)
    store.append(losses(1.0))
    with engine.begin() as connection:
        connection.execute(JOBS.delete())
    assert rows(engine) == (0, 0)


def test_how_far_a_source_was_read_is_stored_with_its_points(engine: Engine) -> None:
    store = Store(engine)
    metrics = store.metrics
    assert metrics.position("a", "logs") == ""
    read = [Report(1, {"loss": 1.0}, 1, position=Position("logs", text)) for text in ("x", "y")]
    metrics.append([("a", report) for report in read])
    assert metrics.position("a", "logs") == "y"
    metrics.append([("a", Report(0, {}, position=Position("logs", "z")))])
    assert (metrics.position("a", "logs"), len(metrics.points("a", "loss"))) == ("z", 2)
    store.delete("a")
    metrics.append([("a", read[0])])
    assert metrics.position("a", "logs") == ""


def test_whether_the_newest_write_is_stored(engine: Engine) -> None:
    store = MetricStore(engine)
    assert not store.has_newest()
    store.append(losses(1.0))
    assert store.has_newest()
    with engine.begin() as connection:
        connection.execute(JOBS.delete())
    assert not store.has_newest()


def test_an_older_database_gets_the_tables(new_database: Callable[[], str]) -> None:
    url = new_database()
    old = create_engine(url)
    migrate(old, "", "0005")
    old.dispose()
    store = Store(open_database(url))
    store.add(job("a"), SPEC)
    store.metrics.append(losses(1.0))
    assert store.metrics.names("a") == ["loss"]
    store.close()
