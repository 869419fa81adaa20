from trainway.engine.metrics.report import NAME_LIMIT
from trainway.engine.metrics.usage_series import SERIES_LIMIT, usage_report
from trainway.json_types import Json

TIME = "2026-11-15T05:10:00Z"
GPU = {"utilization": 50.0, "memory": 2**30, "memoryTotal": 2**36, "power": 300.0}


def nodes(count: int, role: str = "node") -> dict[str, Json]:
    return {f"{role}-0-{rank}": {"role": role, "job": 0, "rank": rank} for rank in range(count)}


def values(pods: Json, known: dict[str, Json]) -> dict[str, float]:
    report = usage_report({"time": TIME, "pods": pods}, known)
    return {} if report is None else dict(report.values)


def test_each_gpu_has_series_of_its_own() -> None:
    used = {"cpu": 150.0, "memory": 7, "peakMemory": 9, "gpus": {"3": GPU}}
    assert values({"node-0-1": used}, nodes(2)) == {
        "system/cpu@node-1": 150.0,
        "system/memory@node-1": 7.0,
        "system/gpu3.utilization@node-1": 50.0,
        "system/gpu3.memory@node-1": float(2**30),
        "system/gpu3.power@node-1": 300.0,
    }


def test_many_gpus_have_series_together() -> None:
    other = {**GPU, "utilization": 100.0}
    used = {"cpu": 1.0, "gpus": {"0": GPU, "1": other}}
    assert values({"node-0-0": used}, nodes(SERIES_LIMIT // 10 + 1)) == {
        "system/cpu@node-0": 1.0,
        "system/gpu.utilization@node-0": 75.0,
        "system/gpu.memory@node-0": float(2**31),
        "system/gpu.power@node-0": 600.0,
    }


def test_long_names_of_nodes_stay_apart() -> None:
    known = nodes(12, "r" * 63)
    found = values({key: {"cpu": 1.0} for key in known}, known)
    assert len(found) == len(known)
    assert max(map(len, found)) <= NAME_LIMIT


def test_nothing_is_reported_of_what_is_not_known() -> None:
    assert usage_report({"time": TIME, "pods": {"node-0-7": {"cpu": 1.0}}}, nodes(1)) is None
    assert usage_report({"time": "soon", "pods": {"node-0-0": {"cpu": 1.0}}}, nodes(1)) is None
