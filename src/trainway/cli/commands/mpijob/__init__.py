"""`trainway mpijob`: MPIJobs in a Kubernetes cluster, for people who do not know Kubernetes.

`kubectl odh mpijob` and `oc odh mpijob` are the same commands; see `cli/odh.py`.
"""

from typing import Final

import click

from trainway.cli.lazy import LazyGroup

_COMMANDS: Final = {
    "create": "create:create",
    "get": "get:get",
    "describe": "describe:describe",
    "logs": "logs:logs",
    "suspend": "control:suspend",
    "resume": "control:resume",
    "delete": "control:delete",
}


@click.group(
    "mpijob",
    cls=LazyGroup,
    modules={name: f"{__name__}.{place}" for name, place in _COMMANDS.items()},
)
def command() -> None:
    """Create, watch and change MPIJobs in a Kubernetes cluster.

    The cluster is that of your kubeconfig, as for kubectl; no Trainway server is needed. The same
    commands are there as kubectl odh mpijob and oc odh mpijob.

    Exit status: 0 done, 1 an error, 2 wrong usage, 3 there is no such job, 4 the job failed, 5 the
    time to wait was over. The plugins exit as kubectl does: 0 done, 1 anything else.
    """
