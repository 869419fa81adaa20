"""Fields that the kinds once had, and what to write instead.

People bring manifests from older versions; an unknown field alone would leave them guessing.
"""

from collections.abc import Mapping
from dataclasses import replace

from trainway.schema.field import ErrorType, FieldError, Path

_PATCH = "spec.runtimePatches[].trainingRuntimeSpec.template"
_POD_PATCH = f"{_PATCH}.spec.replicatedJobs[].template.spec.template"
_TORCH_NUM_PROC = "removed in v2.2: set spec.trainer.numProcPerNode in the TrainJob"
_ELASTIC = "removed in v2.2 with elastic training: set spec.mlPolicy.numNodes"
_NUM_NODES = "set spec.mlPolicy.numNodes"

_OF_TRAIN_JOB: Mapping[Path, str] = {
    ("spec", "podSpecOverrides"): f"removed: use {_POD_PATCH}.spec",
    ("spec", "labels"): f"removed in v2.2: use {_PATCH}.metadata.labels",
    ("spec", "annotations"): f"removed in v2.2: use {_PATCH}.metadata.annotations",
}
_OF_RUNTIME: Mapping[Path, str] = {
    ("spec", "mlPolicy", "torch", "numProcPerNode"): _TORCH_NUM_PROC,
    ("spec", "mlPolicy", "torch", "elasticPolicy"): _ELASTIC,
    ("spec", "mlPolicy", "torch", "numNodes"): _NUM_NODES,
}
_OF_MPI_JOB: Mapping[Path, str] = {
    ("spec", "cleanPodPolicy"): "set spec.runPolicy.cleanPodPolicy",
}
_BY_KIND: Mapping[str, Mapping[Path, str]] = {
    "TrainJob": _OF_TRAIN_JOB,
    "TrainingRuntime": _OF_RUNTIME,
    "ClusterTrainingRuntime": _OF_RUNTIME,
    "MPIJob": _OF_MPI_JOB,
}


def with_migration_hint(kind: str, error: FieldError) -> FieldError:
    """The error, and if it is about a field that was removed, what to write instead."""
    hint = _BY_KIND.get(kind, {}).get(error.path)
    return replace(error, detail=hint) if hint and error.type is ErrorType.UNKNOWN else error
