"""Lambda as its documentation describes it, as far as the provider asks."""

from dataclasses import dataclass, field
from typing import Any

from trainway.providers.web_api_testing import Call, StandIn

TYPE = "gpu_1x_a10"
REGION = "us-west-1"


def problem(code: str, message: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"code": code, "message": message, "suggestion": "Try another region."}}


@dataclass
class LambdaStandIn(StandIn):
    """Its machines are active when they are listed a second time."""

    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: list[dict[str, str]] = field(default_factory=list)
    full: bool = False

    def answer(self, call: Call) -> tuple[int, Any]:
        """What Lambda does."""
        if call.authorization != "Bearer secret":
            return 401, problem("global/invalid-api-key", "API key was invalid.")
        known = {
            ("GET", "/ssh-keys"): lambda _: {"data": self.keys},
            ("POST", "/ssh-keys"): self._add_key,
            ("GET", "/instance-types"): self._types,
            ("GET", "/instances"): self._list,
            ("POST", "/instance-operations/launch"): self._launch,
            ("POST", "/instance-operations/terminate"): self._terminate,
        }
        found = known.get((call.method, call.path))
        if found is None:
            return 404, problem("global/object-does-not-exist", f"There is no {call.path}.")
        answer = found(call.body)
        return (400 if "error" in answer else 200), answer

    def _add_key(self, body: Any) -> Any:
        if any(each["name"] == body["name"] for each in self.keys):
            return problem("global/duplicate", "The name is taken.")
        self.keys.append(body)
        return {"data": body}

    def _types(self, _: Any) -> Any:
        regions = [] if self.full else [{"name": REGION, "description": "California"}]
        kind = {"name": TYPE, "price_cents_per_hour": 75}
        return {"data": {TYPE: {"instance_type": kind, "regions_with_capacity_available": regions}}}

    def _list(self, _: Any) -> Any:
        listed = [dict(each) for each in self.machines.values() if each["status"] != "terminated"]
        for number, each in enumerate(self.machines.values()):
            if each["status"] == "booting":
                each.update(status="active", ip=f"192.0.2.{number + 1}")
        return {"data": listed}

    def _launch(self, body: Any) -> Any:
        if body["instance_type_name"] != TYPE:
            return problem("global/invalid-parameters", "There is no such instance type.")
        if self.full:
            return problem(
                "instance-operations/launch/insufficient-capacity", "Not enough capacity."
            )
        names = {each["name"] for each in self.keys}
        if len(body["ssh_key_names"]) != 1 or not names.issuperset(body["ssh_key_names"]):
            return problem("global/invalid-parameters", "Exactly one known key is needed.")
        name = f"{len(self.machines):032x}"
        self.machines[name] = {
            "id": name,
            "name": body["name"],
            "status": "booting",
            "region": {"name": body["region_name"], "description": ""},
            "instance_type": {"name": body["instance_type_name"]},
            "tags": body["tags"],
        }
        return {"data": {"instance_ids": [name]}}

    def _terminate(self, body: Any) -> Any:
        wanted = body["instance_ids"]
        if any(each not in self.machines for each in wanted):
            return problem("global/object-does-not-exist", "There is no such instance.")
        for each in wanted:
            self.machines[each]["status"] = "terminated"
        return {"data": {"terminated_instances": [self.machines[each] for each in wanted]}}
