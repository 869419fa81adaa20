"""Who a pod is: its names, labels and annotations, as JobSet and the Job controller give them."""

from __future__ import annotations

from trainway.agent.base.labels import (
    COMPLETION_INDEX,
    CONTROLLER_UID,
    EXCLUSIVE_TOPOLOGY,
    HOSTS_RENDEZVOUS,
    INDEX_FAILURE_COUNT,
    JOB_KEY,
    JOB_NAME,
    JOBSET_PREFIX,
    NODE_SELECTOR,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.plan import Plan, Role
    from trainway.agent.base.plan_document import PodName
    from trainway.json_types import Json


class PodIdentity:
    """One pod of one Job in one attempt."""

    def __init__(  # noqa: PLR0913 - the coordinates of a pod, all given by name
        self,
        plan: Plan,
        role: Role,
        *,
        job_index: int,
        slot: int,
        uid: str,
        attempt: int = 0,
        job_attempt: int = 0,
        failures: int = 0,
    ) -> None:
        self.plan = plan
        self.role = role
        self.job_index = job_index
        self.slot = slot
        """The completion index; where there is none, a number that is free."""
        self.uid = uid
        self.attempt = attempt
        self.job_attempt = job_attempt
        self.failures = failures
        """How often a pod of this index failed before."""

    @staticmethod
    def from_json(plan: Plan, data: Json) -> PodIdentity:
        """The pod that somebody else wrote down with `to_json`; KeyError: no such role."""
        roles = {role.name: role for role in plan.roles}
        return PodIdentity(
            plan,
            roles[str(data["role"])],
            job_index=int(data["job_index"]),
            slot=int(data["slot"]),
            uid=str(data["uid"]),
            attempt=int(data.get("attempt") or 0),
            job_attempt=int(data.get("job_attempt") or 0),
            failures=int(data.get("failures") or 0),
        )

    def to_json(self) -> PodName:
        """What tells it apart from all other pods of its plan."""
        return {
            "role": self.role.name,
            "job_index": self.job_index,
            "slot": self.slot,
            "uid": self.uid,
            "attempt": self.attempt,
            "job_attempt": self.job_attempt,
            "failures": self.failures,
        }

    @property
    def key(self) -> str:
        """How the pod is called within its job: `<role>-<job>-<pod>`."""
        return f"{self.role.name}-{self.job_index}-{self.slot}"

    @property
    def job_name(self) -> str:
        """The name of its Job."""
        return f"{self.plan.name}-{self.role.name}-{self.job_index}"

    @property
    def hostname(self) -> str:
        """The host name that it has on a cluster."""
        return f"{self.plan.name}-{self.key}"

    @property
    def name(self) -> str:
        """The pod's name, which no other pod ever has."""
        stem = self.hostname if self.role.job.indexed else self.job_name
        return f"{stem}-{self.uid[:5]}"

    def label(self, name: str) -> str:
        """The value of one label; empty where there is none."""
        if name == JOB_KEY:
            return self._job_key()
        return self._labels().get(name, "")

    def annotation(self, name: str) -> str:
        """The value of one annotation; empty where there is none."""
        if name == JOB_KEY:
            return self._job_key()
        return self._annotations().get(name, "")

    def labels(self) -> dict[str, str]:
        """All labels."""
        return {**self._labels(), JOB_KEY: self._job_key()}

    def annotations(self) -> dict[str, str]:
        """All annotations."""
        return {**self._annotations(), JOB_KEY: self._job_key()}

    def _labels(self) -> dict[str, str]:
        labels = {**_texts(self.role.pod_metadata.get("labels")), **self._common()}
        labels["job-name"] = labels[JOB_NAME] = self.job_name
        controller = f"{self.plan.uid}-{self.role.name}-{self.job_index}-{self.attempt}"
        labels["controller-uid"] = labels[CONTROLLER_UID] = controller
        if self.role.job.indexed:
            labels[COMPLETION_INDEX] = str(self.slot)
        return labels

    def _annotations(self) -> dict[str, str]:
        annotations = {**_texts(self.role.pod_metadata.get("annotations")), **self._common()}
        for owner in (self.plan.metadata, self.role.metadata):
            given = _texts(owner.get("annotations"))
            if EXCLUSIVE_TOPOLOGY in given:
                wanted = (EXCLUSIVE_TOPOLOGY, NODE_SELECTOR)
                annotations.update({key: given[key] for key in wanted if key in given})
        if self.role.job.indexed:
            annotations[COMPLETION_INDEX] = str(self.slot)
        if self.role.job.minimum is not None:
            annotations[HOSTS_RENDEZVOUS] = "true" if self.slot == 0 else "false"
        if self.role.job.backoff_limit_per_index is not None:
            annotations[INDEX_FAILURE_COUNT] = str(self.failures)
        return annotations

    def _common(self) -> dict[str, str]:
        """What JobSet sets both as labels and as annotations."""
        plan, role = self.plan, self.role
        before = _replicas_before(plan.roles, role)
        group = [item for item in plan.roles if item.group == role.group]
        values: dict[str, object] = {
            "jobset-name": plan.name,
            "jobset-uid": plan.uid,
            "replicatedjob-name": role.name,
            "replicatedjob-replicas": role.replicas,
            "global-replicas": sum(item.replicas for item in plan.roles),
            "restart-attempt": self.attempt,
            "job-restart-attempt": self.job_attempt,
            "job-index": self.job_index,
            "job-global-index": before + self.job_index,
            "group-name": role.group,
            "group-replicas": sum(item.replicas for item in group),
            "job-group-index": _replicas_before(group, role) + self.job_index,
        }
        coordinator = plan.spec.get("coordinator")
        if coordinator:
            values["coordinator"] = _coordinator(plan, coordinator)
        return {f"{JOBSET_PREFIX}{key}": str(value) for key, value in values.items()}

    def _job_key(self) -> str:
        """A hash that tells the Job apart from all others."""
        from hashlib import sha1  # noqa: PLC0415 - few ask for it

        text = f"{self.plan.namespace}/{self.job_name}"
        return sha1(text.encode()).hexdigest()  # noqa: S324 - as JobSet does


def _coordinator(plan: Plan, coordinator: Json) -> str:
    job, pod = coordinator.get("jobIndex") or 0, coordinator.get("podIndex") or 0
    return f"{plan.name}-{coordinator.get('replicatedJob')}-{job}-{pod}.{plan.subdomain}"


def _replicas_before(roles: list[Role], role: Role) -> int:
    return sum(item.replicas for item in roles[: roles.index(role)])


def _texts(values: Json | None) -> dict[str, str]:
    return {str(key): str(value) for key, value in (values or {}).items()}
