"""Gangs for a *kwok* cluster: TrainJobs of some pods each, of which some fail on purpose."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cluster.kwok_stages import FAILS, RUNS_FOR

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import AlreadyExists
from trainway.kube.resources import TRAINING_RUNTIMES, TRAINJOBS

ANCESTOR_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
MAX_RESTARTS: Final = 1
NEVER, ONCE, ALWAYS = "never", "once", "always"
AGAIN_S: Final = 0.2
PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class Gang:
    """One TrainJob, and what is to become of it."""

    name: str
    pods: int
    fails: str = NEVER

    @property
    def restarts(self) -> int:
        """How often it is started again."""
        return 0 if self.fails == NEVER else 1

    @property
    def ending(self) -> str:
        """The condition that ends it."""
        return "Failed" if self.fails == ALWAYS else "Complete"

    def trainjob(self, queue: str = "") -> Json:
        """The object that a person would write."""
        return {
            "apiVersion": TRAINJOBS.api_version,
            "kind": TRAINJOBS.kind,
            "metadata": {"name": self.name, "labels": {QUEUE_LABEL: queue} if queue else {}},
            "spec": {
                "runtimeRef": {"name": runtime_name(self.fails), "kind": TRAINING_RUNTIMES.kind},
                "trainer": {"numNodes": self.pods},
            },
        }


def runtime_name(fails: str) -> str:
    return f"gang-fails-{fails}"


def runtimes(runs_for: str) -> list[Json]:
    """Runtimes whose pods run for so long; a gang may fail once and is then started again."""
    return [runtime(fails, runs_for) for fails in (NEVER, ONCE, ALWAYS)]


def runtime(fails: str, runs_for: str) -> Json:
    """A runtime of one replicated job, whose pods take one CPU each."""
    container = {
        "name": "node",
        "image": "docker.io/local/none:1",
        "resources": {"requests": {"cpu": "1"}},
    }
    pod = {
        "metadata": {"annotations": {RUNS_FOR: runs_for, FAILS: fails}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
    }
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {ANCESTOR_STEP: "trainer"}},
            "spec": {"backoffLimit": 0, "template": pod},
        },
    }
    return {
        "apiVersion": TRAINING_RUNTIMES.api_version,
        "kind": TRAINING_RUNTIMES.kind,
        "metadata": {"name": runtime_name(fails)},
        "spec": {
            "mlPolicy": {"numNodes": 1},
            "template": {
                "spec": {
                    "replicatedJobs": [job],
                    "failurePolicy": {"maxRestarts": MAX_RESTARTS},
                }
            },
        },
    }


async def create(client: Client, namespace: str, gang: Gang, queue: str = "") -> None:
    """Create a gang as a patient person does: until it is there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                await client.create(TRAINJOBS, gang.trainjob(queue), namespace)
            except AlreadyExists:
                return
            except TrainwayError:
                await asyncio.sleep(AGAIN_S)
            else:
                return


def pods_of(gangs: Sequence[Gang]) -> int:
    """How many pods they have together."""
    return sum(gang.pods for gang in gangs)
