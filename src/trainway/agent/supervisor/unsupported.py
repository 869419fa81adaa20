"""What a JobSet asks for that processes without containers cannot have; said once, not hidden."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainway.agent.base.plan import Plan
    from trainway.json_types import Json


_POD_FIELDS = (
    "securityContext",
    "hostAliases",
    "dnsConfig",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "runtimeClassName",
    "resourceClaims",
    "serviceAccountName",
)

_IMAGE = "image (commands run on this machine)"
_LIMITS = "resources.limits.cpu (not enforced)"
_NAMES = {"image": _IMAGE, "limits": _LIMITS}
_CONTAINERS_HONOUR = (_IMAGE, _LIMITS, "hostNetwork", "hostIPC")


def not_honoured(plan: Plan) -> list[str]:
    """The fields that have no effect here, each named once."""
    found: dict[str, None] = {}
    honoured = [_NAMES[name] for name in plan.honours]
    honoured += _CONTAINERS_HONOUR if plan.containers else ()
    for role in plan.roles:
        for name in _pod_fields(role.pod_spec):
            if name not in honoured:
                found.setdefault(name)
    strategy = (plan.spec.get("failurePolicy") or {}).get("restartStrategy")
    if strategy == "InPlaceRestart":
        found.setdefault("failurePolicy.restartStrategy: InPlaceRestart (Jobs are recreated)")
    return list(found)


def _pod_fields(spec: Json) -> Iterator[str]:
    for name in _POD_FIELDS:
        if spec.get(name) not in (None, False, "", {}, []):
            yield name
    for container in (*(spec.get("initContainers") or []), *(spec.get("containers") or [])):
        if container.get("image"):
            yield _IMAGE
        if container.get("securityContext"):
            yield "securityContext"
        limits = (container.get("resources") or {}).get("limits") or {}
        if "cpu" in limits:
            yield _LIMITS
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if (container.get(probe) or {}).get("grpc"):
                yield f"{probe}.grpc (counts as passed)"
    for volume in spec.get("volumes") or []:
        for source in (volume.get("projected") or {}).get("sources") or []:
            if source.get("serviceAccountToken"):
                yield "serviceAccountToken volumes"
