"""The ClusterRoles that an administrator binds to people: to view jobs, run them, enter their pods.

They are for `trainway` as a client, which reads pods, events and logs besides the jobs; the roles
`kubeflow-trainer-view` and `-edit` only add our kinds to what Kubernetes' own roles allow.
"""

from trainway.json_types import Json
from trainway.kube.user_rights import Task, role_rules
from trainway.operator.installed_objects import role


def user_roles() -> list[Json]:
    """One for each task; a RoleBinding grants it in a namespace."""
    return [role(task.role, "", role_rules(task)) for task in Task]
