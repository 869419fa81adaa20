"""The request that an agent carries out: `plan.json`, read once."""

from __future__ import annotations

import json

from trainway.agent.base.job_spec import JobSpec
from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.log_limit import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


VERSION = 1
TORCH = "torch"
"""What the annotation of the health check says where the job's own torch is to take part."""
HEALTH_SECONDS = 20.0
"""How long nodes may take to reach each other in a health check, if nobody says how long."""


class PlanError(Exception):
    """The plan cannot be carried out by this agent."""


class Role:
    """A replicated job of the JobSet."""

    def __init__(self, data: Json) -> None:
        self.name = str(data["name"])
        replicas = data.get("replicas")
        self.replicas = 1 if replicas is None else int(replicas)
        self.group = str(data.get("groupName") or "default")
        self.depends_on: list[Json] = list(data.get("dependsOn") or [])
        template: Json = data.get("template") or {}
        self.metadata: Json = template.get("metadata") or {}
        job: Json = template.get("spec") or {}
        self.job = JobSpec(job, self.metadata)
        pod: Json = job.get("template") or {}
        self.pod_metadata: Json = pod.get("metadata") or {}
        self.pod_spec: Json = pod.get("spec") or {}


class Plan:
    """One JobSet with all it needs to run here."""

    def __init__(self, data: Json) -> None:
        if data.get("version") != VERSION:
            raise PlanError(f"version {data.get('version')} of a plan is not known: use {VERSION}")
        self.id = str(data["id"])
        jobset: Json = data["jobset"]
        self.metadata: Json = jobset.get("metadata") or {}
        self.name = str(self.metadata.get("name") or data["name"])
        self.job_name = str(data.get("name") or self.name)
        self.namespace = str(data.get("namespace") or "default")
        self.spec: Json = jobset.get("spec") or {}
        self.roles = [Role(item) for item in self.spec.get("replicatedJobs") or []]
        if (self.spec.get("failurePolicy") or {}).get("restartStrategy") == "InPlaceRestart":
            # Its Jobs never fail by themselves; here the first failed pod restarts the JobSet.
            for role in self.roles:
                role.job.backoff_limit = 0
        self.objects: list[Json] = list(data.get("objects") or [])
        self.cluster = str(data.get("cluster") or "")
        """The cluster whose working directory it has; empty: it has one of its own."""
        self.workdir = str(data.get("workdir") or "/")
        self.env: dict[str, str] = dict(data.get("env") or {})
        self.devices: dict[str, Json] = dict(data.get("devices") or {})
        self.mounts = str(data.get("mounts") or "namespace")
        self.containers: Json = dict(data.get("containers") or {})
        """What runs the containers, for `ContainerTool`; empty: they are processes."""
        self.honours = [str(name) for name in data.get("honours") or ()]
        """Those of `image` and `limits` that whoever starts the agent sees to."""
        host: Json = data.get("host") or {}
        self.host_name = str(host.get("name") or "localhost")
        self.host_ip = str(host.get("ip") or "127.0.0.1")
        self.status: Json = dict(data.get("status") or {})
        """Where reports of progress are taken; empty: nowhere."""
        logs: Json = data.get("logs") or {}
        self.log_limit = int(logs.get("limit") or DEFAULT)
        """How many bytes the logs of the job may take on one machine."""
        self.health_seconds = _health_seconds(self.metadata.get("annotations") or {})
        """How long the network may take in the health check of a gang; None: there is none."""
        self.health_torch = _health_word(self.metadata.get("annotations") or {}) == TORCH
        """Whether the job's own torch takes part in it."""
        environment: Json = data.get("environment") or {}
        self.requirements = str(environment.get("requirements") or "")
        """The packages of the job, as a requirements file lists them; empty: it asks for none."""
        self.without_packages = [str(name) for name in environment.get("without") or ()]
        """The roles that do not get them."""
        self.mpi: Json = dict(data.get("mpi") or {})
        """The Secret with the key by which a launcher reaches its workers; empty: there is none."""

    @property
    def uid(self) -> str:
        """The uid of the JobSet; that of the job where it was never in a cluster."""
        return str(self.metadata.get("uid") or self.id)

    @property
    def subdomain(self) -> str:
        """What follows the names of pods in their addresses."""
        return str((self.spec.get("network") or {}).get("subdomain") or self.name)

    def role(self, name: str) -> Role:
        """The role of that name."""
        return next(role for role in self.roles if role.name == name)


def _health_seconds(annotations: Json) -> float | None:
    text = _health_word(annotations)
    if text.isdigit():
        return float(text) or None
    return HEALTH_SECONDS if text in ("true", TORCH) else None


def _health_word(annotations: Json) -> str:
    return str(annotations.get(HEALTH_CHECK) or "").lower()


def read_plan(text: bytes) -> Plan:
    """The plan in a file's text."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise PlanError(f"plan.json is not JSON: {error}") from error
    try:
        return Plan(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"plan.json is incomplete: {error!r}") from error
