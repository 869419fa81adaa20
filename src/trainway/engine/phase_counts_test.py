"""The numbers of jobs by phase, against what is counted in the database."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, text

from trainway.engine import phase_counts
from trainway.engine.database import open_database
from trainway.engine.phases import TERMINAL, Phase
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.store import JobChange, Store

SPEC = JobSpec([], {}, {}, [])
COUNTING = "count("


@pytest.fixture
def engine(new_database: Callable[[], str]) -> Iterator[Engine]:
    made = open_database(new_database())
    yield made
    made.dispose()


def job(job_id: str, phase: Phase = Phase.PENDING) -> JobRecord:
    return JobRecord(
        id=job_id, name="n", namespace="d", kind="JobSet", backend="local", phase=phase
    )


def counted(engine: Engine) -> dict[str, int]:
    """What is there, by the simplest question."""
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT phase, count(*) FROM jobs GROUP BY phase"))
        return {str(phase): int(count) for phase, count in rows}


def counts(store: Store) -> dict[str, int]:
    return {phase: count for phase, count in store.phase_counts().items() if count}


def counts_of_what_lasts(engine: Engine) -> list[str]:
    """Notes each time that jobs are counted that are over."""
    asked: list[str] = []

    def note(_c: object, _cursor: object, said: str, values: object, *_: object) -> None:
        if COUNTING in said and any(phase in str(values) for phase in TERMINAL):
            asked.append(said)

    event.listen(engine, "before_cursor_execute", note)
    return asked


def test_jobs_that_are_over_are_counted_once(engine: Engine) -> None:
    store = Store(engine)
    asked = counts_of_what_lasts(engine)
    store.add(job("a"), SPEC)
    store.add(job("b", Phase.FAILED), SPEC)
    assert counts(store) == {"Pending": 1, "Failed": 1}
    assert len(asked) == 1
    store.update("a", {"phase": Phase.RUNNING})
    assert counts(store) == {"Running": 1, "Failed": 1}
    store.update("a", {"phase": Phase.SUCCEEDED})
    store.update("a", {"phase": Phase.SUCCEEDED})  # after an answer that was lost
    store.add(job("c", Phase.SUCCEEDED), SPEC)
    assert counts(store) == {"Succeeded": 2, "Failed": 1}
    store.delete("a")
    store.delete("a")
    store.delete("b")
    assert counts(store) == {"Succeeded": 1}
    assert len(asked) == 1


def test_what_was_not_committed_does_not_count(engine: Engine) -> None:
    store = Store(engine)
    store.add(job("a"), SPEC)
    assert counts(store) == {"Pending": 1}
    changes = [JobChange("a", {"phase": Phase.FAILED}), JobChange("a", {"no_such_column": 1})]
    with pytest.raises(Exception, match="no_such_column"):
        store.update_all(changes)
    assert counts(store) == {"Pending": 1}


def test_what_another_process_writes_is_seen(engine: Engine) -> None:
    now = 0.0
    store, other = Store(engine), Store(open_database(url_of(engine)))
    store._phase_counts._clock = lambda: now
    store.add(job("a", Phase.SUCCEEDED), SPEC)
    assert counts(store) == {"Succeeded": 1}
    other.add(job("b", Phase.FAILED), SPEC)
    other.delete("a")
    now += phase_counts.TRUSTED_S  # SQLite says so at once
    assert counts(store) == {"Failed": 1}
    other.close()


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "change", "delete", "other", "read"]),
        st.sampled_from("abcd"),
        st.sampled_from(sorted(Phase)),
    ),
    max_size=25,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_happens_the_numbers_are_those_of_the_database(
    steps: list[tuple[str, str, Phase]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('counts') / 'jobs.db'}"
    mine, theirs = open_database(url), open_database(url)
    store, other = Store(mine), Store(theirs)
    for what, name, phase in steps:
        writer = other if what == "other" else store
        if what in ("add", "other"):
            if not store.has(name):
                writer.add(job(name, phase), SPEC)
            else:
                writer.delete(name)
        elif what == "change":
            store.update(name, {"phase": phase})
        elif what == "delete":
            store.delete(name)
        else:
            assert counts(store) == counted(theirs)
    assert counts(store) == counted(theirs)
    store.close()
    other.close()
