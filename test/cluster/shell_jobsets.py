"""JobSets whose pods run a shell script, submitted with the command line as a user does it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cluster.identities import CONTEXT
from cluster.images import BUSYBOX
from installation import Installation

from trainway.json_types import Json

HEARS: Final = "trap 'exit 143' TERM"
"""The first process of a pod hears only what it listens to; else it is killed after two seconds."""
GATED: Final = f"{HEARS}; until [ -e /gate/open ]; do usleep 50000; done"
FOREVER: Final = f"{HEARS}; sleep 600 & wait"
ATTEMPT: Final = "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"


@dataclass(frozen=True)
class ShellJobSet:
    """One role `node` whose pods run the script; `/gate` is a folder that a test has too."""

    name: str
    script: str
    pods: int = 1
    gate: Path | None = None
    restart_policy: str = "Never"
    backoff_limit: int = 0
    max_restarts: int = 0
    suspend: bool = False
    image: str = BUSYBOX
    requests: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def manifest(self) -> Json:
        container: Json = {
            "name": "main",
            "image": self.image,
            "command": ["sh", "-c", self.script],
            "env": [{"name": "ATTEMPT", "valueFrom": {"fieldRef": {"fieldPath": ATTEMPT}}}],
            "resources": {"requests": self.requests},
        }
        pod: Json = {
            "containers": [container],
            "restartPolicy": self.restart_policy,
            "terminationGracePeriodSeconds": 2,
        }
        if self.gate is not None:
            container["volumeMounts"] = [{"name": "gate", "mountPath": "/gate"}]
            pod["volumes"] = [{"name": "gate", "hostPath": {"path": str(self.gate)}}]
        job = {
            "parallelism": self.pods,
            "completions": self.pods,
            "backoffLimit": self.backoff_limit,
            "template": {"spec": pod},
        }
        return {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": self.name, "labels": self.labels},
            "spec": {
                "suspend": self.suspend,
                "failurePolicy": {"maxRestarts": self.max_restarts},
                "replicatedJobs": [{"name": "node", "template": {"spec": job}}],
            },
        }

    def submit(self, home: Installation, namespace: str, folder: Path) -> str:
        """The id of the job."""
        file = folder / f"{self.name}.json"
        file.write_text(json.dumps(self.manifest()))
        return home.submit(str(file), "--on", f"k8s/{CONTEXT}/{namespace}")
