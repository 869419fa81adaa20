import itertools
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, MetaData, Table, create_engine, event, insert, inspect, text

from trainway.engine.database import known_versions, migrate, open_database, transaction
from trainway.engine.job_filter import Filter, label_terms, metric_terms
from trainway.engine.job_window import Window, WindowStore
from trainway.engine.store import Store
from trainway.engine.tables import HEAD
from trainway.errors import DatabaseError
from trainway.jobset.labels import ARRAY, ARRAY_RANK, ARRAY_SIZE
from trainway.json_types import Json


def shape(engine: Engine) -> dict[str, object]:
    """Everything that can be seen of the tables."""
    seen = inspect(engine)
    return {
        table: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(table)],
            seen.get_pk_constraint(table),
            seen.get_foreign_keys(table),
            sorted(
                (i["name"] or "", i["column_names"], bool(i["unique"]))
                for i in seen.get_indexes(table)
            ),
        )
        for table in seen.get_table_names()
    }


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def test_a_new_database_is_what_all_migrations_together_make(
    new_database: Callable[[], str],
) -> None:
    made = open_database(new_database())
    migrated = create_engine(new_database())
    migrate(migrated, "")
    assert shape(made) == shape(migrated)
    for engine in (made, migrated):
        with engine.connect() as connection:
            assert connection.execute(text("SELECT version_num FROM alembic_version")).all() == [
                (HEAD,)
            ]
        engine.dispose()


def test_an_existing_database_is_left_as_it_is(tmp_path: Path) -> None:
    first = open_database(url(tmp_path / "x.db"))
    before = shape(first)
    first.dispose()
    again = open_database(url(tmp_path / "x.db"))
    assert shape(again) == before
    with again.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
    again.dispose()


def test_jobs_of_an_older_program_are_kept(new_database: Callable[[], str]) -> None:
    url = new_database()
    old = create_engine(url)
    migrate(old, "", "0001")
    jobs = Table("jobs", MetaData(), autoload_with=old)
    values = dict.fromkeys(jobs.c.keys(), 0) | {"id": "a", "name": "demo", "phase": "Succeeded"}
    with old.begin() as connection:
        connection.execute(insert(jobs).values(values))
    old.dispose()
    store = Store(open_database(url))
    found = store.get("demo")
    assert (found.id, found.phase, found.idempotency_key) == ("a", "Succeeded", None)
    store.close()


def test_labels_of_an_older_program_are_found(new_database: Callable[[], str]) -> None:
    url = new_database()
    old = create_engine(url)
    migrate(old, "", "0013")
    jobs = Table("jobs", MetaData(), autoload_with=old)
    given = ('{"team": "nlp"}', '{"team": "nlp-2"}', '{"team": 3, "a b": "c", "x": ""}', "", "[1]")
    with old.begin() as connection:
        for number, labels in enumerate(given):
            values: Json = dict.fromkeys(jobs.c.keys(), 0)
            values |= {"id": f"{number}", "name": "demo", "phase": "Succeeded", "labels": labels}
            values |= {"idempotency_key": None, "run": None, "replaced_by": None, "place": None}
            connection.execute(insert(jobs).values(values))
    old.dispose()
    store = Store(open_database(url))

    def found(text: str) -> list[str]:
        return list(store.windows.jobs(Filter(labels=label_terms([text])), Window()).ids)

    assert (found("team"), found("team=nlp"), found("x")) == (["1", "0"], ["0"], ["2"])
    store.close()


def older(url: str) -> None:
    """A database of version 0014 with two jobs of a run and one without, all of them alike."""
    old = create_engine(url)
    migrate(old, "", "0014")
    names = ("jobs", "job_labels", "metric_series")
    jobs, labels, series = (Table(name, MetaData(), autoload_with=old) for name in names)
    with old.begin() as connection:
        for job_id, run in (("a", "a"), ("b", "a"), ("c", None)):
            values: Json = dict.fromkeys(jobs.c.keys(), 0)
            values |= {"id": job_id, "name": "demo", "phase": "Succeeded", "run": run}
            values |= {"idempotency_key": None, "replaced_by": None, "place": None}
            connection.execute(insert(jobs).values(values))
            team = {"job_id": job_id, "key": "team", "value": "nlp"}
            connection.execute(insert(labels).values(team))
            loss: Json = dict.fromkeys(series.c.keys(), 0) | {"job_id": job_id, "name": "loss"}
            del loss["id"]
            connection.execute(insert(series).values(loss))
    old.dispose()


def grouped(engine: Engine, wanted: Filter) -> list[str]:
    return list(WindowStore(engine).groups(wanted, Window()).ids)


def test_runs_of_an_older_program_are_found_by_label_and_metric(
    new_database: Callable[[], str],
) -> None:
    url = new_database()
    older(url)
    engine = open_database(url)
    for wanted in (
        Filter(labels=label_terms(["team=nlp"])),
        Filter(labels=label_terms(["team"])),
        Filter(metrics=metric_terms(["loss<1"])),
    ):
        assert grouped(engine, wanted) == ["c", "a"], wanted
    engine.dispose()


class KilledError(Exception):
    """The program ended in the middle of an upgrade."""


def test_an_upgrade_that_ends_at_any_statement_is_made_at_the_next_start(
    new_database: Callable[[], str],
) -> None:
    url = new_database()
    older(url)
    engine = create_engine(url)
    before, left = shape(engine), 0

    @event.listens_for(engine, "after_cursor_execute")
    def count(*_arguments: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KilledError

    for statements in itertools.count(1):
        left = statements
        try:
            migrate(engine, "0014")
        except KilledError:
            left = 0
            assert shape(engine) == before, statements
        else:
            break
    left = 0
    assert statements > 8
    assert shape(engine) != before
    assert grouped(engine, Filter(labels=label_terms(["team=nlp"]))) == ["c", "a"]
    engine.dispose()


def test_an_older_database_is_kept_before_it_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    old = create_engine(url(path))
    migrate(old, "", "0003")
    jobs = Table("jobs", MetaData(), autoload_with=old)
    values = dict.fromkeys(jobs.c.keys(), 0) | {"id": "a", "name": "demo", "phase": "Succeeded"}
    with old.begin() as connection:
        connection.execute(insert(jobs).values(values))
    before = shape(old)
    old.dispose()
    store = Store(open_database(url(path)))
    assert store.get("demo").request_digest is None
    store.close()
    copy = tmp_path / f"x.db.before-{HEAD}"
    kept = create_engine(url(copy))
    assert shape(kept) == before
    with kept.connect() as connection:
        assert connection.execute(text("SELECT name FROM jobs")).all() == [("demo",)]
    kept.dispose()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    open_database(url(path)).dispose()
    assert {file.name for file in tmp_path.iterdir()} == {"x.db", copy.name}


def test_an_upgrade_without_a_copy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    old = create_engine(url(path))
    migrate(old, "", "0003")
    before = shape(old)
    (tmp_path / f"x.db.before-{HEAD}").mkdir()
    with pytest.raises(DatabaseError, match=r"x\.db"):
        open_database(url(path))
    assert shape(old) == before
    old.dispose()


def test_known_versions_end_with_the_newest() -> None:
    assert known_versions() == [f"{number:04}" for number in range(1, int(HEAD) + 1)]


def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    engine = open_database(url(tmp_path / "x.db"), busy_s=0.25)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2  # FULL
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 250
    engine.dispose()


def test_what_need_not_be_durable_waits_for_no_disk(tmp_path: Path) -> None:
    engine = open_database(url(tmp_path / "x.db"))
    for is_durable, synchronous in ((False, 1), (True, 2), (False, 1)):
        with transaction(engine, is_durable=is_durable) as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar() == synchronous
    with transaction(engine) as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    engine.dispose()


def test_a_file_that_is_no_database_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("this is not a database, but long enough to look like one" * 9)
    with pytest.raises(DatabaseError, match=r"x\.db is damaged: file is not a database$"):
        open_database(url(tmp_path / "x.db"))


def test_a_database_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    engine = open_database(url(tmp_path / "x.db"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(DatabaseError, match="version 9999"):
        open_database(url(tmp_path / "x.db"))


def test_arrays_of_an_older_program_become_runs(new_database: Callable[[], str]) -> None:
    url = new_database()
    old = create_engine(url)
    migrate(old, "", "0005")
    jobs = Table("jobs", MetaData(), autoload_with=old)
    with old.begin() as connection:
        for rank, id_ in enumerate(("a", "b", "c")):
            place = {ARRAY: "a", ARRAY_RANK: str(rank), ARRAY_SIZE: "2"} if id_ != "c" else {}
            told = {"name": f"my-sweep-{rank}", "backend": "local", "created": "then"}
            values: Json = dict.fromkeys(jobs.c.keys(), 0) | told
            values |= {"id": id_, "phase": "Succeeded", "labels": json.dumps(place)}
            values["idempotency_key"] = None
            connection.execute(insert(jobs).values(values))
    old.dispose()
    store = Store(open_database(url))
    (run,) = store.runs.page(5)
    assert (run.id, run.name, run.size, run.parallel) == ("a", "my-sweep", 2, None)
    assert [store.get(id_).run for id_ in "abc"] == ["a", "a", None]
    store.close()
