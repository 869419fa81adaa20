"""What the first matching rule of a Job's podFailurePolicy makes of a failed pod.

A pod whose agent died carries the condition DisruptionTarget, as one whose node went away does;
there are no other conditions here that a rule could match.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.base.pod_status import PodStatus
    from trainway.json_types import Json


class Verdict:
    """How a failed pod counts."""

    def __init__(self, action: str = "Count", message: str = "") -> None:
        self.action = action
        self.message = message
        """Why the whole Job fails; it is set only with the action FailJob."""

    @property
    def counts(self) -> bool:
        """Whether the failure counts towards the back-off limit."""
        return self.action != "Ignore"


def judge(rules: Sequence[Json], pod: PodStatus, namespace: str) -> Verdict:
    """The verdict of the first rule that matches; without one the failure counts."""
    for index, rule in enumerate(rules):
        cause = _cause(rule, pod, namespace)
        if cause:
            action = str(rule.get("action", "Count"))
            message = f"{cause} matching {action} rule at index {index}"
            return Verdict(action, message if action == "FailJob" else "")
    return Verdict()


def _cause(rule: Json, pod: PodStatus, namespace: str) -> str:
    """In the words of Kubernetes, why a rule matches; empty where it does not."""
    codes = rule.get("onExitCodes")
    if codes is None:
        patterns = rule.get("onPodConditions") or []
        wanted = [p for p in patterns if p.get("type") == "DisruptionTarget"]
        if pod.disrupted and any(p.get("status", "True") == "True" for p in wanted):
            return f"Pod {namespace}/{pod.name} has condition DisruptionTarget"
        return ""
    for name, code in pod.exit_codes:
        if code and codes.get("containerName") in (None, name) and _matches(codes, code):
            return f"Container {name} for pod {namespace}/{pod.name} failed with exit code {code}"
    return ""


def _matches(requirement: Json, code: int) -> bool:
    listed = code in (requirement.get("values") or [])
    return listed if requirement.get("operator") == "In" else not listed
