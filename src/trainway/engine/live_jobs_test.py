from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.phases import WAITING, Phase
from trainway.engine.record import JobRecord

STEPS = st.fixed_dictionaries({
    "id": st.sampled_from("abcdef"),
    "phase": st.sampled_from(list(Phase)),
    "backend": st.sampled_from(["local", "ssh/lab"]),
    "queue": st.sampled_from(["default", "team"]),
    "run": st.sampled_from([None, "r1", "r2"]),
    "making_room": st.sampled_from([None, "{}"]),
    "is_gone": st.booleans(),
    "is_looked_at": st.booleans(),
})  # fmt: skip


def job(step: dict[str, Any]) -> LiveJob:
    names = ("id", "phase", "backend", "queue", "run", "making_room")
    columns = {name: step[name] for name in names}
    record = JobRecord(name="demo", namespace="default", kind="JobSet", **columns)
    return cast("LiveJob", SimpleNamespace(id=record.id, record=record))


@given(st.lists(STEPS, max_size=30))
def test_jobs_are_found_as_if_all_were_looked_at(steps: list[dict[str, Any]]) -> None:
    live, known = LiveJobs(), dict[str, LiveJob]()
    for step in steps:
        job_id = step["id"]
        if step["is_gone"]:
            assert live.remove(job_id) == (known.pop(job_id, None) is not None)
        elif job_id in known:
            before, known[job_id].record = known[job_id].record, job(step).record
            live.changed(before, known[job_id].record)
        else:
            known[job_id] = job(step)
            live.add(known[job_id])
        if step["is_looked_at"]:
            compare(live, list(known.values()))
    compare(live, list(known.values()))


def compare(live: LiveJobs, jobs: list[LiveJob]) -> None:
    def ids(found: list[LiveJob]) -> list[str]:
        return sorted(job.id for job in found)

    assert dict(live) == {job.id: job for job in jobs}
    assert ids(live.waiting) == ids([job for job in jobs if job.record.phase in WAITING])
    assert ids(live.making_room) == ids([job for job in jobs if job.record.making_room])
    for backend in ("local", "ssh/lab"):
        found = [job for job in jobs if job.record.backend == backend]
        assert ids(live.of_backend(backend)) == ids(found)
    for queue in ("default", "team"):
        assert ids(live.of_queue(queue)) == ids([job for job in jobs if job.record.queue == queue])
    for run in ("r1", "r2"):
        assert ids(live.of_run(run)) == ids([job for job in jobs if job.record.run == run])


def test_the_news_are_told_once() -> None:
    live = LiveJobs()
    step = {"id": "a", "phase": Phase.RUNNING, "backend": "local", "queue": "default"}
    one = job(step | {"run": None, "making_room": None})
    live.add(one)
    assert live.news() == {"a"}
    assert live.news() == set()
    live.changed(one.record, one.record)
    live.remove("b")
    assert live.news() == {"a", "b"}
