"""The names of a JobSet's pods, for those who call each other by them.

In a cluster a headless service gives every pod a name. Here a hosts file of the job's own does it,
mounted over /etc/hosts. Only a JobSet that mentions one of its pods gets it: what the compiler
makes for a single machine has addresses, and needs no mount. Where nothing can be mounted, names
are replaced by addresses before the pods are made.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from trainway.agent.base.plan import Plan
    from trainway.json_types import Json


HOSTS = "/etc/hosts"
CLUSTER_DOMAIN = "cluster.local"


def mentions_pods(plan: Plan) -> bool:
    """Whether the JobSet has the name of one of its pods in it."""
    text = json.dumps([plan.spec, plan.objects])
    return any(f"{plan.name}-{role.name}-" in text for role in plan.roles)


def hosts_file(
    plan: Plan,
    own: str,
    addresses: Mapping[str, str] | None = None,
    machines: Mapping[str, str] | None = None,
) -> str:
    """The machine's own hosts file, followed by a line for each pod.

    A pod of which no address is given is on this machine. The machines of the job come first: each
    must be found by the name that it has for itself, which often is a loopback address there.
    """
    lines = [f"{address} {name}" for name, address in (machines or {}).items()]
    lines += [own.rstrip("\n")] if own.strip() else []
    for key, names in _names(plan):
        address = (addresses or {}).get(key) or plan.host_ip
        lines.append(" ".join((address, *names)))
    return "\n".join(lines) + "\n"


def _names(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """The key of each pod with all its names, the shortest first."""
    for role in plan.roles:
        for job in range(role.replicas):
            for pod in range(role.job.completions or role.job.parallelism):
                key = f"{role.name}-{job}-{pod}"
                name = f"{plan.name}-{key}"
                service = f"{name}.{plan.subdomain}"
                full = f"{service}.{plan.namespace}.svc"
                yield key, [name, service, full, f"{full}.{CLUSTER_DOMAIN}"]


class NameMap:
    """Replaces the names of pods by addresses."""

    def __init__(self, plan: Plan, addresses: Mapping[str, str]) -> None:
        self._addresses: dict[str, str] = {}
        for key, names in _names(plan):
            self._addresses.update({name: addresses.get(key) or plan.host_ip for name in names})
        longest_first = sorted(self._addresses, key=len, reverse=True)
        choice = "|".join(re.escape(name) for name in longest_first)
        self._pattern = re.compile(rf"(?<![\w.-])(?:{choice})(?![\w-]|\.\w)")

    def text(self, text: str) -> str:
        """A text with addresses in place of names."""
        return self._pattern.sub(lambda found: self._addresses[found.group()], text)

    def plan(self, data: Json) -> Json:
        """A plan whose containers and ConfigMaps have addresses in place of names."""
        objects = [self._object(item) for item in data.get("objects") or []]
        return dict(data, objects=objects, jobset=self._pods(data["jobset"]))

    def _object(self, item: Json) -> Json:
        if item.get("kind") != "ConfigMap" or not item.get("data"):
            return item
        return dict(item, data={key: self.text(value) for key, value in item["data"].items()})

    def _pods(self, value: Any) -> Any:
        """All commands, arguments and variables, wherever they are."""
        if isinstance(value, list):
            return [self._pods(item) for item in value]
        if not isinstance(value, dict):
            return value
        changed = {key: self._pods(item) for key, item in value.items()}
        for key in ("command", "args"):
            if isinstance(value.get(key), list):
                changed[key] = [self.text(str(item)) for item in value[key]]
        if isinstance(value.get("env"), list):
            changed["env"] = [self._variable(item) for item in value["env"]]
        return changed

    def _variable(self, item: Json) -> Json:
        if not isinstance(item.get("value"), str):
            return item
        return dict(item, value=self.text(item["value"]))
