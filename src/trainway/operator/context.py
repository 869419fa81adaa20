"""What every part of the operator is given: the way to the cluster, and what was configured.

Controllers and servers take a `Context` and nothing global, so that a test can put one together
with parts of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from trainway.compiler.keys import Keys
from trainway.compiler.plugins.progress import StatusEndpoint
from trainway.kube.client import Client
from trainway.kube.events import EventRecorder
from trainway.kube.informers import Informers
from trainway.operator.config import OperatorConfig
from trainway.operator.metrics import Metrics


@dataclass(frozen=True)
class Context:
    """What a controller works with."""

    client: Client
    informers: Informers
    recorder: EventRecorder
    mpi_recorder: EventRecorder
    """The recorder that speaks as `mpi-job-controller`, as MPI Operator does."""
    optimization_recorder: EventRecorder
    """Speaks as the controller of OptimizationJobs."""
    config: OperatorConfig
    now: Callable[[], datetime]
    """The time, with time zone UTC."""
    metrics: Metrics
    keys: Keys
    endpoint: Callable[[], StatusEndpoint | None]
    """Where trainers report progress; None while that is off or has no certificate yet."""
    namespace: str
    """The namespace of the operator itself."""
