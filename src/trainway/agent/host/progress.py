"""Where the processes of a job on this host report how far they are."""

from __future__ import annotations

from trainway.agent.host.hosted_plan import STATUS_FILES
from trainway.agent.kubelet.status_port import HOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.host.hosted_node import HostedNode
    from trainway.agent.kubelet.status_endpoint import StatusEndpoint
    from trainway.json_types import Json


class Progress:
    """The endpoint of one job, on a port that the kernel chooses."""

    def __init__(
        self, directory: Directory, node: HostedNode, files: Json, post: Callable[[Json], None]
    ) -> None:
        self._endpoint: StatusEndpoint | None = None
        settings = node.plan.status
        if not settings or not files:
            return
        directory.make("status")
        for name, path in STATUS_FILES.items():
            directory.write(path, str(files.get(name) or "").encode())
        from trainway.agent.kubelet.status_endpoint import (  # noqa: PLC0415 - few jobs need it
            StatusEndpoint,
        )

        try:
            self._endpoint = StatusEndpoint(directory, node.loop, settings, post)
        except OSError as error:
            message = f"progress cannot be reported: {error.strerror}"
            node.tell_once("Warning", "NoProgress", message)
            return
        node.status_variables = {
            "KUBEFLOW_TRAINER_SERVER_URL": f"https://{HOST}:{self._endpoint.port}{settings['path']}",
            "KUBEFLOW_TRAINER_SERVER_CA_CERT": directory.join(STATUS_FILES["certificate"]),
            "KUBEFLOW_TRAINER_SERVER_TOKEN": directory.join(STATUS_FILES["token"]),
        }

    def close(self) -> None:
        """Take no more reports."""
        if self._endpoint is not None:
            self._endpoint.close()
