"""What a pod may ask about itself: fieldRef and resourceFieldRef."""

from __future__ import annotations

import json

from trainway.agent.base.quantity import times
from trainway.agent.kubelet.objects import MissingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.base.pod_identity import PodIdentity
    from trainway.json_types import Json


class Downward:
    """Answers questions about one pod."""

    def __init__(self, pod: PodIdentity, capacity: Mapping[str, str]) -> None:
        self._pod = pod
        self._capacity = capacity
        """What the machine has: the limit of a container that has none of its own."""

    def field(self, path: str) -> str:
        """The value of a field of the pod."""
        pod, plan = self._pod, self._pod.plan
        base, key = _subscript(path)
        if key is not None:
            if base == "metadata.labels":
                return pod.label(key)
            if base == "metadata.annotations":
                return pod.annotation(key)
            raise MissingError(f'fieldPath "{path}" does not support subscript')
        if path == "metadata.labels":
            return _lines(pod.labels())
        if path == "metadata.annotations":
            return _lines(pod.annotations())
        values = {
            "metadata.name": pod.name,
            "metadata.namespace": plan.namespace,
            "metadata.uid": pod.uid,
            "spec.nodeName": plan.host_name,
            "spec.serviceAccountName": pod.role.pod_spec.get("serviceAccountName") or "default",
            "status.hostIP": plan.host_ip,
            "status.hostIPs": plan.host_ip,
            "status.podIP": plan.host_ip,
            "status.podIPs": plan.host_ip,
        }
        if path not in values:
            raise MissingError(f"unsupported fieldPath: {path}")
        return str(values[path])

    def resource(self, ref: Json, container: Json) -> str:
        """The value of a resource of a container: this one, or another of the pod by name."""
        name = ref.get("containerName")
        if name and name != container.get("name"):
            spec = self._pod.role.pod_spec
            everywhere = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
            found = [item for item in everywhere if item.get("name") == name]
            if not found:
                raise MissingError(f"container {name} not found")
            container = found[0]
        kind, _, resource = str(ref.get("resource", "")).partition(".")
        if kind not in ("limits", "requests") or not resource:
            raise MissingError(f"unsupported container resource : {ref.get('resource')}")
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        amount = limits.get(resource)
        if kind == "requests":
            amount = requests.get(resource, amount)
        elif amount is None:
            amount = self._capacity.get(resource)
        try:
            return str(times(amount or "0", ref.get("divisor") or "0"))
        except ValueError as error:
            raise MissingError(f"{ref.get('resource')}: {error}") from error

    def value(self, item: Json, container: Json) -> str:
        """The value that an entry with a fieldRef or a resourceFieldRef stands for."""
        field = item.get("fieldRef")
        if field is not None:
            return self.field(str(field.get("fieldPath", "")))
        return self.resource(item.get("resourceFieldRef") or {}, container)


def _subscript(path: str) -> tuple[str, str | None]:
    """`metadata.labels['a']` taken apart."""
    if not path.endswith("']") or "['" not in path:
        return path, None
    base, _, key = path[:-2].partition("['")
    return base, key


def _lines(values: Mapping[str, str]) -> str:
    """Labels or annotations in the form of the downward API: one `key="value"` a line, sorted."""
    return "\n".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in sorted(values.items())
    )
