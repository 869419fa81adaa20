"""What is told of each job that runs: how far it is, and what its nodes use. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Protocol

from trainway.engine.failure import shown_name
from trainway.engine.record import JobRecord
from trainway.engine.statistics import table
from trainway.jobset.status import moment
from trainway.json_types import Json
from trainway.telemetry.metric import Metric, Sample

_PERCENT: Final = 100.0
_OF_NODE: Final = (("cpu", table.NODE_CPU, _PERCENT), ("memory", table.NODE_MEMORY, 1.0))
_OF_GPU: Final = (
    ("utilization", table.GPU_UTILIZATION, _PERCENT),
    ("memory", table.GPU_MEMORY, 1.0),
    ("power", table.GPU_POWER, 1.0),
    ("temperature", table.GPU_TEMPERATURE, 1.0),
)
_OF_PROGRESS: Final = (
    ("progressPercentage", table.JOB_PROGRESS, _PERCENT),
    ("estimatedRemainingSeconds", table.JOB_REMAINING, 1.0),
)


class _Observed(Protocol):
    nodes: dict[str, Json]


class Running(Protocol):
    """A job that runs."""

    record: JobRecord

    @property
    def observation(self) -> _Observed:
        """What is known of its nodes."""
        ...


def running_samples(jobs: Sequence[Running]) -> Iterator[Sample]:
    """All series of jobs that run, the newest of them if they are too many."""
    newest = sorted(jobs, key=lambda job: job.record.id, reverse=True)[: table.MOST_JOBS]
    yield Sample(table.LEFT_OUT, (), len(jobs) - len(newest))
    for job in newest:
        yield from _job_samples(job.record)
    nodes = ((job.record, node) for job in newest for node in job.observation.nodes.values())
    used = ((record, node) for record, node in nodes if node.get("usage"))
    for record, node in islice(used, table.MOST_NODES):
        yield from _node_samples(record, node)


def _job_samples(record: JobRecord) -> Iterator[Sample]:
    about = (record.name, record.namespace, record.kind, record.backend, record.phase)
    yield Sample(table.JOB_INFO, (record.id, *about), 1)
    yield Sample(table.JOB_RESTARTS, (record.id,), record.restarts)
    if record.started:
        yield Sample(table.JOB_START, (record.id,), moment(record.started).timestamp())
    yield from _figures(record.progress_data, _OF_PROGRESS, (record.id,))


def _node_samples(record: JobRecord, node: Json) -> Iterator[Sample]:
    name = shown_name(node["role"], node["job"], node["rank"])
    labels = (record.id, name, str(node.get("host") or ""), record.backend)
    yield from _figures(node["usage"], _OF_NODE, labels)
    gpus: Mapping[str, Json] = node["usage"].get("gpus") or {}
    for index, found in gpus.items():
        yield from _figures(found, _OF_GPU, (*labels, str(index)))


def _figures(
    found: Mapping[str, Any], wanted: Iterable[tuple[str, Metric, float]], labels: tuple[str, ...]
) -> Iterator[Sample]:
    """Those figures that are known; what training code reports may be anything."""
    for name, metric, unit in wanted:
        value = found.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield Sample(metric, labels, value / unit)
