"""The scheduler of scheduler-plugins beside Kubernetes' own: it places gangs whole.

Its controller runs too, as wherever it is installed: what that writes into a PodGroup makes the
scheduler try again the gangs that found no room before.
"""

import json
import socket
from typing import Any, Final

from cluster import builds
from cluster.access import Access
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds_at
from cluster.ports import free_port
from cluster.processes import Process
from cluster.unavailable import UnavailableError

MODULE: Final = "sigs.k8s.io/scheduler-plugins"
SCHEDULER: Final = "scheduler-plugins"
CONTROLLER: Final = "scheduler-plugins-controller"
NAME: Final = "gang"  # by which pods ask for it
PERMIT_SECONDS: Final = 10


def start_gang_scheduler(cluster: ControlPlane) -> list[Process]:
    """Install the CRDs and run scheduler and controller."""
    programs = builds.build(builds.KUBERNETES, [SCHEDULER, CONTROLLER])
    source = builds.source_folder(builds.KUBERNETES, MODULE)
    cluster.install_crds(source / "config" / "crd" / "bases")
    path = cluster.folder / "gang-scheduler.json"
    path.write_text(json.dumps(scheduler_configuration(str(cluster.kubeconfig))))
    port = free_port()
    scheduler = cluster.launch(
        SCHEDULER,
        [
            str(programs / SCHEDULER),
            f"--config={path}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={port}",
            f"--cert-dir={cluster.folder / 'pki' / SCHEDULER}",
        ],
    )
    scheduler.wait_ready(lambda: listens(port))
    health_port = free_port()
    controller = cluster.launch(
        CONTROLLER,
        [
            str(programs / CONTROLLER),
            "--metricsAddr=0",
            f"--probeAddr={LOOPBACK}:{health_port}",
            "--qps=100",
            "--burst=200",
            "--workers=2",
        ],
        {"KUBECONFIG": str(cluster.kubeconfig)},
    )
    controller.wait_ready(lambda: succeeds_at(health_port, "/readyz"))
    return [scheduler, controller]


def listens(port: int) -> bool:
    """Whether a process takes connections on this port of loopback."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=5).close()
    except OSError:
        return False
    return True


def require_gang_scheduler(cluster: Access) -> None:
    """See to it that an existing cluster knows gangs."""
    if not cluster.serves("/apis/scheduling.x-k8s.io/v1alpha1/podgroups"):
        raise UnavailableError("the existing cluster has no PodGroups of scheduler-plugins")


def scheduler_configuration(kubeconfig: str) -> dict[str, Any]:
    """The configuration file of the scheduler: one profile, in which gangs are placed whole."""
    gangs = [{"name": "Coscheduling"}]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig},
        "profiles": [
            {
                "schedulerName": NAME,
                "plugins": {
                    "multiPoint": {"enabled": gangs},
                    "queueSort": {"enabled": gangs, "disabled": [{"name": "*"}]},
                },
                "pluginConfig": [
                    {
                        "name": "Coscheduling",
                        "args": {"permitWaitingTimeSeconds": PERMIT_SECONDS},
                    }
                ],
            }
        ],
    }
