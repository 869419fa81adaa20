import json

from trainway.engine.metrics.store import Summary
from trainway.engine.occupancy import Occupant, occupants
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.json_types import Json


def record(job_id: str, *nodes: Json) -> JobRecord:
    observed = {"nodes": {f"node-0-{number}": node for number, node in enumerate(nodes)}}
    return JobRecord(
        id=job_id, name=f"job {job_id}", namespace="d", kind="JobSet", backend="ssh/lab",
        phase=Phase.RUNNING, observed=json.dumps(observed),
    )  # fmt: skip


def node(rank: int, host: str = "", phase: str = "Running") -> Json:
    return {"role": "node", "job": 0, "rank": rank, "phase": phase, "host": host}


def last(value: float) -> Summary:
    return Summary(value, 0.0, value, None)


def test_jobs_are_where_their_pods_are() -> None:
    first = record("a", node(0, "a1"), node(1, "a2"), node(2, "a2"))
    second = record("b", node(0, "a2"), node(1, "a2", phase="Succeeded"))
    found = occupants([first, second], {})
    assert found == {
        "a1": [Occupant("a", "job a", 1)],
        "a2": [Occupant("a", "job a", 2), Occupant("b", "job b", 1)],
    }


def test_gpus_are_those_of_the_node_that_the_series_names() -> None:
    series = {
        "a": {
            "loss": last(1),
            "system/cpu@node-0": last(50),
            "system/gpu1.utilization@node-0": last(87),
            "system/gpu1.memory@node-0": last(1024),
            "system/gpu1.power@node-0": last(300),
            "system/gpu0.utilization@node-1": last(3),
            "system/gpu0.utilization@node-7": last(3),
        }
    }
    found = occupants([record("a", node(0, "a1"), node(1, "a2"))], series)
    assert found["a1"][0].gpus == {"1": {"utilization": 87, "memory": 1024}}
    assert found["a2"][0].gpus == {"0": {"utilization": 3}}


def test_pods_without_a_host_are_on_the_only_node() -> None:
    series = {"a": {"system/gpu.utilization@node-0": last(40)}}
    assert occupants([record("a", node(0))], series) == {}
    found = occupants([record("a", node(0))], series, alone="box")
    assert found["box"][0].gpus == {"": {"utilization": 40}}
