"""MPIJobs and TrainJobs for people who do not know Kubernetes.

`from trainway.training import MPIJob, ResourceRequirements, TrainJob` is what a program needs. The
jobs run in a cluster that a kubeconfig names, without a server of ours, or on any place of one. The
commands `trainway mpijob` use the same modules. This package is on the client side, and the only
one there that talks to clusters itself; see docs/decisions/0019-clusters-from-the-client.md.
"""

TYPE_CHECKING = False  # typing's constant; type checkers go by the name, and the import costs
if TYPE_CHECKING:
    from trainway.api.pod_wishes import ResourceRequirements
    from trainway.training.mpijob import AsyncMPIJob, MPIJob
    from trainway.training.state import JobStatus, State
    from trainway.training.trainjob import AsyncTrainJob, TrainJob

__all__ = [
    "AsyncMPIJob",
    "AsyncTrainJob",
    "JobStatus",
    "MPIJob",
    "ResourceRequirements",
    "State",
    "TrainJob",
]

_MODULES = {
    "AsyncMPIJob": "trainway.training.mpijob",
    "AsyncTrainJob": "trainway.training.trainjob",
    "JobStatus": "trainway.training.state",
    "MPIJob": "trainway.training.mpijob",
    "ResourceRequirements": "trainway.api.pod_wishes",
    "State": "trainway.training.state",
    "TrainJob": "trainway.training.trainjob",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only what is asked for is paid for

    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
