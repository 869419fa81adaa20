"""Where the pods of a job on this machine find each other: on a port of their own."""

from dataclasses import dataclass

from trainway.backends.agents.certificate import LOOPBACK
from trainway.compiler.network import JobIdentity


@dataclass(frozen=True)
class LoopbackNetwork:
    """Every pod is reached on the loopback address; only its own name tells it from others."""

    job: JobIdentity
    port: int
    shares_host: bool = True
    remote_shell: str = ""
    cloud: str = "local"

    def pod_name(self, role: str, pod: int, job: int = 0) -> str:
        """`<jobset>-<role>-<job>-<pod>`, as everywhere."""
        return f"{self.job.name}-{role}-{job}-{pod}"

    def host(self, role: str, pod: int, job: int = 0) -> str:  # noqa: ARG002 - all pods share one
        """The loopback address."""
        return LOOPBACK

    def fqdn(self, role: str, pod: int, job: int = 0) -> str:
        """The loopback address too: no name server knows the pods."""
        return self.host(role, pod, job)

    @property
    def domain(self) -> str:
        """What a resolver would append; nothing of it resolves."""
        return "localdomain"
