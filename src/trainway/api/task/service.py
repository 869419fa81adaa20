"""`service`: a task that answers requests. It is checked here; running it comes later."""

from collections.abc import Iterator
from typing import Final

from trainway.api.accelerators import parse as parse_accelerator
from trainway.api.task.amounts import PORTS, port_ranges
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, invalid, required
from trainway.schema.shape import (
    COUNT,
    FLAG,
    TEXT,
    Anything,
    Either,
    Number,
    Record,
    Table,
    Text,
    Word,
    exclusive,
)

_PATH: Final = Text(r"/.*", "a path must start with /")
_TIME: Final = Number()
_QPS: Final = Number(least=0)
_PROBE: Final = Either(
    (
        _PATH,
        Record(
            {
                "path": _PATH,
                "initial_delay_seconds": _TIME,
                "timeout_seconds": _TIME,
                "endpoint_probe_interval_seconds": _TIME,
                "consecutive_failure_threshold_timeout": _TIME,
                "post_data": Either((TEXT, Table(Anything(), nullable=True, says="an object"))),
                "headers": Table(TEXT),
            },
            needs=("path",),
        ),
    )
)
_POLICY: Final = Record(
    {
        "min_replicas": COUNT,
        "max_replicas": COUNT,
        "num_overprovision": COUNT,
        "target_qps_per_replica": Either((_QPS, Table(_QPS))),
        "dynamic_ondemand_fallback": FLAG,
        "base_ondemand_fallback_replicas": COUNT,
        "spot_placer": Word(("dynamic_fallback",)),
        "upscale_delay_seconds": _TIME,
        "downscale_delay_seconds": _TIME,
    },
    needs=("min_replicas",),
)
SHAPE: Final = Record(
    {
        "readiness_probe": _PROBE,
        "replicas": COUNT,
        "replica_policy": _POLICY,
        "load_balancing_policy": Word(
            ("round_robin", "least_load", "instance_aware_least_load"), any_case=False
        ),
        "load_balancer": Record({"stream_timeout_seconds": _TIME}),
        "tls": Record({"keyfile": TEXT, "certfile": TEXT}, needs=("keyfile", "certfile")),
        "ports": PORTS,
    }
)


def errors(data: Json, path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with a service whose structure is right."""
    yield from exclusive(data, path, "replicas", "replica_policy")
    policy = data.get("replica_policy")
    if policy:
        yield from _policy_errors(policy, (*path, "replica_policy"))
    if data.get("ports") is not None:
        try:
            port_ranges(data["ports"])
        except ValueError as error:
            yield invalid((*path, "ports"), data["ports"], str(error))


def warnings(data: Json, resources: Json) -> Iterator[str]:
    """What would keep the service from answering: SkyPilot says so when it starts one."""
    is_own = data.get("ports") is not None
    ports = data["ports"] if is_own else resources.get("ports")
    count = 0 if ports is None else sum(last - first + 1 for first, last in port_ranges(ports))
    if count != 1:
        where = "service.ports" if is_own else "resources.ports"
        yield f"{where}: a service needs exactly one port, but it has {count or 'none'}"


def _policy_errors(policy: Json, path: Path) -> Iterator[FieldError]:
    least, most = policy["min_replicas"], policy.get("max_replicas")
    if most is not None and most < least:
        detail = f"must not be less than min_replicas, which is {least}"
        yield invalid((*path, "max_replicas"), most, detail)
    target = policy.get("target_qps_per_replica")
    if most is not None and most != least and target is None:
        detail = "it decides how many replicas run between min_replicas and max_replicas"
        yield required((*path, "target_qps_per_replica"), detail)
    if isinstance(target, dict):
        for name in target:
            try:
                parse_accelerator(name)
            except ValueError as error:
                yield invalid((*path, "target_qps_per_replica", (name,)), name, str(error))
