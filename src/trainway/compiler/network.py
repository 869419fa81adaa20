"""Where the pods of a job find each other.

It is all a plugin needs to know of the target. On Kubernetes the answer is the JobSet's DNS names;
a backend for other infrastructure brings a `Network` of its own, and no text is rewritten later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

RENDEZVOUS_PORT = 29500
DEFAULT_CLUSTER_DOMAIN = "cluster.local"
KUBERNETES = "kubernetes"


class Network(Protocol):
    """Answers what a pod is called and on which port a job meets."""

    @property
    def port(self) -> int:
        """The port of the first pod on which the others meet it."""
        ...

    def pod_name(self, role: str, pod: int, job: int = 0) -> str:
        """The host name that a pod has for itself."""
        ...

    def host(self, role: str, pod: int, job: int = 0) -> str:
        """The name under which the job's other pods reach it."""
        ...

    def fqdn(self, role: str, pod: int, job: int = 0) -> str:
        """Its name in full."""
        ...

    @property
    def domain(self) -> str:
        """What follows a pod's own name in a name that resolves from anywhere, up to the root."""
        ...

    @property
    def shares_host(self) -> bool:
        """Whether all pods are on one host, so that none has to log in to another."""
        ...

    @property
    def remote_shell(self) -> str:
        """The command that runs another in a pod, called as `ssh` is; empty: pods serve SSH."""
        ...

    @property
    def cloud(self) -> str:
        """What sort of place it is, as tasks are told: `kubernetes`, `ssh` or `local`."""
        ...


@dataclass(frozen=True)
class JobIdentity:
    """What a network must know of a job to name its pods."""

    name: str
    namespace: str
    subdomain: str


NetworkFactory = Callable[[JobIdentity], Network]


@dataclass(frozen=True)
class KubernetesNetwork:
    """The DNS names that JobSet's headless service gives to pods."""

    job: JobIdentity
    cluster_domain: str = ""
    port: int = RENDEZVOUS_PORT
    shares_host: bool = False
    remote_shell: str = ""
    cloud: str = KUBERNETES

    def pod_name(self, role: str, pod: int, job: int = 0) -> str:
        """`<jobset>-<role>-<job>-<pod>`."""
        return f"{self.job.name}-{role}-{job}-{pod}"

    def host(self, role: str, pod: int, job: int = 0) -> str:
        """The short name, which resolves within the namespace."""
        return f"{self.pod_name(role, pod, job)}.{self.job.subdomain}"

    def fqdn(self, role: str, pod: int, job: int = 0) -> str:
        """The name that also resolves from other namespaces."""
        name = f"{self.pod_name(role, pod, job)}.{self._service}"
        return f"{name}.{self.cluster_domain}" if self.cluster_domain else name

    @property
    def domain(self) -> str:
        """The headless service's name, in the cluster's domain or in the usual one."""
        return f"{self._service}.{self.cluster_domain or DEFAULT_CLUSTER_DOMAIN}"

    @property
    def _service(self) -> str:
        return f"{self.job.subdomain}.{self.job.namespace}.svc"
