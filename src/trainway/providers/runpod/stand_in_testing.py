"""RunPod as the documentation of its GraphQL API describes it, as far as the provider asks."""

from dataclasses import dataclass, field
from typing import Any

from trainway.providers.web_api_testing import Call, StandIn

TYPE = "2x_H100-SXM_SECURE"
REGION, ZONE = "US", "US-CA-2"
FULL = (
    "There are no longer any instances available with the requested specifications. Please refresh "
    "and try again."
)


def problem(message: str) -> dict[str, Any]:
    """The body of an error, which has the status 200."""
    return {"errors": [{"message": message, "path": ["x"]}], "data": None}


@dataclass
class RunpodStandIn(StandIn):
    """Its pods can be reached when they are listed a second time."""

    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    bid: float | None = 0.9

    def answer(self, call: Call) -> tuple[int, Any]:
        """What RunPod does."""
        if call.authorization != "Bearer secret":
            return 401, problem("Unauthorized")
        query, variables = call.body["query"], call.body["variables"]
        given = variables.get("input", {})
        if "podTerminate" in query:
            if self.pods.pop(given["podId"], None) is None:
                return 200, problem("pod not found to terminate")
            return 200, {"data": {"podTerminate": None}}
        for name in ("podFindAndDeployOnDemand", "podRentInterruptable"):
            if name in query:
                return 200, {"data": {name: {"id": self._make(given)}}}
        if "dataCenters" in query:
            names = [ZONE, "EU-SE-1", "CA-MTL-1"]
            return 200, {"data": {"dataCenters": [{"id": each} for each in names]}}
        if "gpuTypes" in query:
            return 200, {"data": {"gpuTypes": [{"lowestPrice": {"minimumBidPrice": self.bid}}]}}
        user = {"id": "user_1", "email": "me@example.com", "pods": self._list()}
        return 200, {"data": {"myself": user}}

    def _make(self, given: dict[str, Any]) -> str:
        name = f"pod{len(self.calls)}"
        self.pods[name] = {
            "id": name,
            "name": given["name"],
            "desiredStatus": "RUNNING",
            "env": [f"{each['key']}={each['value']}" for each in given["env"]],
            "runtime": None,
        }
        return name

    def _list(self) -> list[dict[str, Any]]:
        listed = [dict(each) for each in self.pods.values()]
        for number, each in enumerate(self.pods.values()):
            ssh = {"ip": "192.0.2.9", "isIpPublic": True, "privatePort": 22, "type": "tcp"}
            each["runtime"] = {"ports": [{**ssh, "publicPort": 10_000 + number}]}
        return listed
