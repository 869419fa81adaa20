"""What a person may do who views jobs in a namespace, runs them, or connects with their pods.

One table: the ClusterRoles that come with the operator are made from it, `trainway doctor` asks the
API server for it, and what is missing is told in its words. Pure.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from trainway.json_types import Json

ROLE_PREFIX: Final = "trainway-"
_TRAINER: Final = "trainer.kubeflow.org"
_MPI: Final = "kubeflow.org"
_JOBSET: Final = "jobset.x-k8s.io"
_KUEUE: Final = "kueue.x-k8s.io"
_LWS: Final = "leaderworkerset.x-k8s.io"
_METRICS: Final = "metrics.k8s.io"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "patch", "delete")


class Task(StrEnum):
    """What a person wants to do; each but the first needs the first one too."""

    VIEW = "view"
    RUN = "run"
    EXEC = "exec"

    @property
    def role(self) -> str:
        """The ClusterRole that allows it."""
        return f"{ROLE_PREFIX}{self.value}"


class Right(NamedTuple):
    """A verb on a resource, `pods` or `pods/log`."""

    verb: str
    group: str
    resource: str

    @property
    def what(self) -> str:
        """The resource as kubectl names it: `jobsets.jobset.x-k8s.io`, `pods/log`."""
        group = f".{self.group}" if self.group else ""
        name, _, part = self.resource.partition("/")
        return f"{name}{group}" + (f"/{part}" if part else "")

    def review(self, namespace: str) -> Json:
        """The SelfSubjectAccessReview that asks for it."""
        name, _, part = self.resource.partition("/")
        attributes = {"namespace": namespace, "verb": self.verb, "resource": name}
        attributes |= {"group": self.group} if self.group else {}
        attributes |= {"subresource": part} if part else {}
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }


class _Rule(NamedTuple):
    group: str
    resources: Sequence[str]
    verbs: Sequence[str]


_VIEW: Final = (
    _Rule("", ("pods", "services", "events"), _READ),
    _Rule("", ("pods/log",), ("get",)),
    _Rule("", ("resourcequotas",), ("list",)),
    _Rule("batch", ("jobs",), _READ),
    _Rule(_JOBSET, ("jobsets",), _READ),
    _Rule(_TRAINER, ("trainjobs", "trainingruntimes", "optimizationjobs"), _READ),
    _Rule(_MPI, ("mpijobs",), _READ),
    _Rule(_KUEUE, ("workloads", "localqueues"), _READ),
    _Rule(_METRICS, ("pods",), ("list",)),
)
_RULES: Final = {
    Task.VIEW: _VIEW,
    Task.RUN: (
        *_VIEW,
        _Rule("", ("services",), _WRITE),
        _Rule("", ("configmaps", "secrets"), ("get", "list", *_WRITE)),
        _Rule("batch", ("jobs",), _WRITE),
        _Rule(_JOBSET, ("jobsets",), _WRITE),
        _Rule(_TRAINER, ("trainjobs", "trainingruntimes", "optimizationjobs"), _WRITE),
        _Rule(_MPI, ("mpijobs",), _WRITE),
        _Rule(_KUEUE, ("workloads",), ("patch",)),
    ),
    Task.EXEC: (
        _Rule("", ("pods",), _READ),
        _Rule("", ("pods/exec", "pods/portforward"), ("get", "create")),
    ),
}
_GRANTED: Final = {
    Task.VIEW: (_Rule(_LWS, ("leaderworkersets",), _READ),),
    Task.RUN: (
        _Rule(_LWS, ("leaderworkersets",), (*_READ, *_WRITE)),
        _Rule("", ("pods",), ("delete",)),
        _Rule("", ("persistentvolumeclaims",), ("get", "create", "patch", "delete")),
    ),
    Task.EXEC: (_Rule("", ("pods/ephemeralcontainers",), ("patch",)),),
}
"""What a role allows beyond what its task needs: data caches as LeaderWorkerSets, ending a pod that
hangs, making the claims of volumes, and bringing the output of a job that moves away."""
_OPTIONAL: Final = frozenset({"events", "resourcequotas", "localqueues", "optimizationjobs"})
_OPTIONAL_GROUPS: Final = frozenset({_METRICS})
"""Rights without which one knows less, and everything works."""
_BUILT_IN: Final = ("", "batch")
_CREATE_ONLY: Final = frozenset({"pods/exec", "pods/portforward"})

LOGS: Final = Right("get", "", "pods/log")
EXEC: Final = Right("create", "", "pods/exec")
PORT_FORWARD: Final = Right("create", "", "pods/portforward")


def role_rules(task: Task) -> list[Json]:
    """The rules of the ClusterRole for a task."""
    return [
        {"apiGroups": [rule.group], "resources": list(rule.resources), "verbs": list(rule.verbs)}
        for rule in (*_RULES[task], *_GRANTED.get(task, ()))
    ]


def needed(task: Task, groups: Collection[str]) -> list[Right]:
    """What the task needs in a cluster that serves these API groups beside Kubernetes' own.

    Where there is JobSet, nobody makes plain Jobs with their Services.
    """
    plain = set() if _JOBSET not in groups else {("batch", "jobs"), ("", "services")}
    found = (
        Right(verb, rule.group, resource)
        for rule in _RULES[task]
        if rule.group in (*_BUILT_IN, *groups) and rule.group not in _OPTIONAL_GROUPS
        for resource in rule.resources
        if resource not in _OPTIONAL and (rule.group, resource) not in plain
        for verb in rule.verbs
        if not (resource in _CREATE_ONLY and verb != "create")
    )
    return list(dict.fromkeys(found))


def missing_words(missing: Iterable[Right], namespace: str) -> str:
    """`you may not list/watch pods and get pods/log in namespace team`."""
    verbs: dict[str, list[str]] = {}
    for right in missing:
        verbs.setdefault(right.what, []).append(right.verb)
    *first, last = (f"{'/'.join(named)} {what}" for what, named in verbs.items())
    rights = f"{', '.join(first)} and {last}" if first else last
    return f"you may not {rights} in namespace {namespace}"


def grant_hint(task: Task, namespace: str) -> str:
    """What an administrator can do about it."""
    return (
        f"an administrator can grant it: kubectl create rolebinding {task.role}-NAME -n {namespace}"
        f" --clusterrole={task.role} --user=NAME (the role comes with"
        " `trainway operator install --user-roles`)"
    )
