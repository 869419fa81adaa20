import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from trainway.engine.database import open_database
from trainway.engine.job_filter import Filter, label_terms, metric_terms
from trainway.engine.metrics.report import Report
from trainway.engine.phases import Phase
from trainway.engine.record import Event, JobRecord, JobSpec
from trainway.engine.run.record import RunRecord
from trainway.engine.store import Store
from trainway.errors import NotFoundError

SPEC = JobSpec([{"kind": "JobSet"}], {"PATH": "/bin"}, {"spec": {}}, [])


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    made = Store(open_database(new_database()))
    yield made
    made.close()


def job(job_id: str, name: str = "demo", phase: Phase = Phase.SUCCEEDED) -> JobRecord:
    return JobRecord(
        id=job_id, name=name, namespace="default", kind="JobSet", backend="local", phase=phase
    )


def event(reason: str) -> Event:
    return Event("2026-11-15T00:00:00Z", "Normal", reason, "text", "job/demo")


def test_what_was_added_comes_back(store: Store) -> None:
    store.add(job("a"), SPEC, [event("Created")])
    assert store.get("a") == job("a")
    assert store.spec("a") == SPEC
    assert store.objects(["a", "b"]) == {"a": SPEC.objects}
    assert [(e.seq, e.reason) for e in store.events("a")] == [(1, "Created")]


def test_a_key_belongs_to_one_job(store: Store) -> None:
    first = replace(job("a"), idempotency_key="k")
    assert store.add(first, SPEC)
    assert not store.add(replace(job("b"), idempotency_key="k"), SPEC, [event("Created")])
    assert (store.with_key("k"), store.with_key("other")) == (first, None)
    assert store.add(job("c"), SPEC)
    assert store.add(job("d"), SPEC)
    assert store.ids() == ["a", "c", "d"]
    store.delete("a")
    assert store.add(replace(job("b"), idempotency_key="k"), SPEC)


def test_the_newest_id_is_that_of_whatever_has_one(store: Store) -> None:
    assert store.newest_id() == ""
    for name in "bac":
        store.add(job(name), SPEC)
    assert store.newest_id() == "c"
    store.delete("c")
    run = RunRecord(id="d", name="demo", backend="local", created="", size=1)
    assert store.add_all([(replace(job("d"), run="d"), SPEC, ())], run)
    assert store.newest_id() == "d"


def test_several_jobs_are_kept_or_none(store: Store) -> None:
    first, second = (replace(job(name), idempotency_key=name) for name in "ab")
    assert store.add_all([(first, SPEC, [event("Created")]), (second, SPEC, [event("Created")])])
    assert store.spec("b") == SPEC
    assert [e.reason for e in store.events("b")] == ["Created"]
    assert not store.add_all([(job("c"), SPEC, []), (replace(second, id="d"), SPEC, [])])
    assert store.ids() == ["a", "b"]


def test_a_name_means_the_newest_job_and_an_id_that_job(store: Store) -> None:
    for job_id in ("1", "3", "2"):
        store.add(job(job_id), SPEC)
    store.add(job("4", name="1"), SPEC)
    assert store.get("demo").id == "3"
    assert store.get("1").id == "1"
    with pytest.raises(NotFoundError, match="no job 'other'"):
        store.get("other")


def test_a_change_and_its_events_go_together(store: Store) -> None:
    store.add(job("a", phase=Phase.RUNNING), SPEC, [event("Created")])
    changes = {"phase": Phase.SUCCEEDED, "observed": {"nodes": {"x": 1}}, "journal_seq": 7}
    store.update("a", changes, [event("One"), event("Two")])
    changed = store.get("a")
    assert (changed.phase, changed.journal_seq) == (Phase.SUCCEEDED, 7)
    assert changed.observed_data == {"nodes": {"x": 1}}
    assert [(e.seq, e.reason) for e in store.events("a", after=1)] == [(2, "One"), (3, "Two")]
    store.update("a", {}, [event("Three")])
    assert store.events("a", after=3)[0].seq == 4


def test_text_that_a_database_cannot_hold_is_kept_as_far_as_possible(store: Store) -> None:
    store.add(job("a"), SPEC, [replace(event("Odd"), message="one\0two \ud800 ü")])
    store.update("a", {"message": "three\0four", "observed": {"x": "\0\ud800"}})
    assert store.events("a")[0].message == "one\\x00two \\ud800 ü"
    assert store.get("a").message == "three\\x00four"
    assert store.get("a").observed_data == {"x": "\0\ud800"}


def test_pages_go_from_the_newest_to_the_oldest(store: Store) -> None:
    for number in range(5):
        store.add(job(f"{number}"), SPEC)
    first = store.page(Filter(), 2)
    rest = store.page(Filter(before=first[-1].id), 10)
    assert [each.id for each in (*first, *rest)] == ["4", "3", "2", "1", "0"]


def test_filters(store: Store) -> None:
    store.add(job("1", "a", Phase.RUNNING), SPEC)
    store.add(job("2", "b", Phase.RUNNING), SPEC)
    store.add(job("3", "a", Phase.FAILED), SPEC)
    running = store.page(Filter(phases=[Phase.RUNNING]), 9)
    assert [each.id for each in running] == ["2", "1"]
    assert [each.id for each in store.page(Filter(name="a"), 9)] == ["3", "1"]
    assert [each.id for each in store.page(Filter([Phase.FAILED], "a"), 9)] == ["3"]
    assert [each.id for each in store.unfinished()] == ["1", "2"]
    assert store.counts() == (2, 3)


def test_labels_are_found_as_they_are_written(store: Store) -> None:
    given = [{"team": "nlp"}, {"team": "NLP", "x.y/z": ""}, {"other": "team"}, {"team": "nlp-2"}]
    for number, labels in enumerate(given):
        store.add(replace(job(f"{number}"), labels=json.dumps(labels)), SPEC)

    def found(*texts: str) -> list[str]:
        return [each.id for each in store.page(Filter(labels=label_terms(texts)), 9)]

    assert found("team") == ["3", "1", "0"]
    assert found("team=nlp") == ["0"]
    assert found("team=NLP", "x.y/z") == ["1"]
    assert found("x.y/z=") == ["1"]
    assert found("team=nlp", "other") == []
    assert found("te_m") == []
    store.delete("1")
    assert (found("team"), found("x.y/z")) == (["3", "0"], [])


def test_labels_that_nobody_can_ask_for_do_no_harm(store: Store) -> None:
    odd = {"team": "nlp", "k" * 9_000: "v", "key": "v" * 9_000, "a b": "<b>", "\ud800": "\x00"}
    store.add(replace(job("a"), labels=json.dumps(odd)), SPEC)
    assert store.get("a").label_map == odd
    assert [each.id for each in store.page(Filter(labels=label_terms(["team"])), 9)] == ["a"]
    store.delete("a")
    store.add(job("a"), SPEC)
    assert store.page(Filter(labels=label_terms(["team"])), 9) == []


def test_metrics_are_found_by_their_last_report(store: Store) -> None:
    for job_id, values in {"1": (0.1, 0.5), "2": (0.25,), "3": (0.9, 0.1)}.items():
        store.add(job(job_id), SPEC)
        reports = [Report(1.0, {"loss": value, "loss2": 0.0}) for value in values]
        store.metrics.append([(job_id, report) for report in reports])
    store.add(job("4"), SPEC)

    def found(*texts: str, limit: int = 9) -> list[str]:
        return [each.id for each in store.page(Filter(metrics=metric_terms(texts)), limit)]

    assert found("loss<0.3") == ["3", "2"]
    assert found("loss<0.3", limit=1) == ["3"]
    assert found("loss >= 0.25", "loss2=0") == ["2", "1"]
    assert found("accuracy>0") == []


def test_a_summary_leaves_out_what_is_large(store: Store) -> None:
    store.add(job("a"), SPEC)
    store.update("a", {"observed": {"nodes": {}}})
    assert store.page(Filter(), 1)[0].observed
    assert not store.page(Filter(), 1, summary=True)[0].observed


def test_jobs_expire_in_order(store: Store) -> None:
    for job_id, expires in (("a", 30.0), ("b", 10.0), ("c", None)):
        store.add(job(job_id), SPEC)
        store.update(job_id, {"expires": expires})
    assert [each.id for each in store.expiring()] == ["b", "a"]


def test_a_deleted_job_leaves_nothing(store: Store) -> None:
    store.add(job("a"), SPEC, [event("Created")])
    store.delete("a")
    assert store.counts() == (0, 0)
    assert store.events("a") == []
    assert store.objects(["a"]) == {}
    store.add(job("a"), SPEC)


def test_a_run_lives_as_long_as_its_jobs(store: Store) -> None:
    run = RunRecord(id="a", name="sweep", backend="local", created="", size=2, parallel=1)
    jobs = [replace(job(name, phase=Phase.RUNNING), run="a") for name in "ab"]
    store.add_all([(item, SPEC, []) for item in jobs], run)
    store.add(replace(job("c"), parameters='{"lr": "1"}'), SPEC)
    assert store.runs.get("sweep") == store.runs.get("a") == run
    assert store.runs.page(5) == store.runs.limited() == [run]
    assert store.runs.page(5, before="a") == store.runs.page(5, name="other") == []
    store.update("b", {"phase": Phase.FAILED})
    assert store.runs.counts(["a"]) == {"a": {"Running": 1, "Failed": 1}}
    assert [item.id for item in store.page(Filter(run="a"), 5)] == ["b", "a"]
    assert store.get("c").parameter_map == {"lr": "1"}
    store.update("a", {"phase": Phase.SUCCEEDED})
    assert store.runs.limited() == []
    new = replace(job("d", phase=Phase.PENDING), run="a", place="b")
    store.add_all([(new, SPEC, [])], run)
    assert [item.id for item in store.page(Filter(run="a"), 5)] == ["d", "a"]
    assert store.runs.counts(["a"]) == {"a": {"Succeeded": 1, "Pending": 1}}
    assert store.runs.all_jobs("a") == ["a", "b", "d"]
    store.delete("d")
    assert [item.id for item in store.page(Filter(run="a"), 5)] == ["b", "a"]
    store.delete("a")
    assert store.runs.get("sweep") == run
    store.delete("b")
    with pytest.raises(NotFoundError, match="no run 'sweep'"):
        store.runs.get("sweep")
