"""The names of a JobSet's pods, for those who call each other by them.

In a cluster a headless service gives every pod a name. Here all pods are on this machine, so a
hosts file of the job's own does it, mounted over /etc/hosts. Only a JobSet that mentions one of its
pods gets it: what the compiler makes for this machine has addresses, and needs no mount.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.plan import Plan

HOSTS = "/etc/hosts"
CLUSTER_DOMAIN = "cluster.local"


def mentions_pods(plan: Plan) -> bool:
    """Whether the JobSet has the name of one of its pods in it."""
    text = json.dumps([plan.spec, plan.objects])
    return any(f"{plan.name}-{role.name}-" in text for role in plan.roles)


def hosts_file(plan: Plan, own: str) -> str:
    """The machine's own hosts file, followed by a line for each pod."""
    lines = [own.rstrip("\n")] if own.strip() else []
    for role in plan.roles:
        for job in range(role.replicas):
            for pod in range(role.job.completions or role.job.parallelism):
                name = f"{plan.name}-{role.name}-{job}-{pod}"
                service = f"{name}.{plan.subdomain}"
                full = f"{service}.{plan.namespace}.svc"
                lines.append(f"{plan.host_ip} {name} {service} {full} {full}.{CLUSTER_DOMAIN}")
    return "\n".join(lines) + "\n"
