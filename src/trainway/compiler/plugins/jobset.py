"""The JobSet itself, built last from what the other plugins left."""

from collections.abc import Iterator

from trainway.compiler.workload import Workload
from trainway.jobset.model import API_VERSION, KIND
from trainway.json_types import Json


class JobSet:
    """Active for every job."""

    name = "JobSet"
    order = 1000

    def build(self, workload: Workload) -> Iterator[Json]:
        """The JobSet, named like the TrainJob."""
        workload.set_user_env()
        for role in workload.roles:
            role.job.job_spec.update(parallelism=role.count, completions=role.count)
        metadata = workload.owned(workload.name)
        references = metadata.pop("ownerReferences")
        if workload.labels:
            metadata["labels"] = workload.labels
        if workload.annotations:
            metadata["annotations"] = workload.annotations
        _drop_zeros(workload.spec)
        yield {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": metadata | {"ownerReferences": references},
            "spec": {**workload.spec, "suspend": workload.job.spec.suspend},
        }


def _drop_zeros(spec: Json) -> None:
    """Leave out numbers that are 0 anyway, as every client of the typed API does."""
    for part, names in (
        ("failurePolicy", ["maxRestarts"]),
        ("coordinator", ["jobIndex", "podIndex"]),
    ):
        values = spec.get(part) or {}
        for name in names:
            if values.get(name) == 0:
                del values[name]
