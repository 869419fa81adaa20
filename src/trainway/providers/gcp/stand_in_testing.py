"""Compute Engine as its documentation describes it, as far as the provider asks."""

import re
from dataclasses import dataclass, field
from typing import Any

from trainway.providers.web_api_testing import Call, StandIn

PROJECT = "my-project"
REGION, ZONE = "us-central1", "us-central1-b"
ZONES = [f"{REGION}-{letter}" for letter in "abc"]
TYPE = "n2-standard-8"
HOST = "n1-standard-8"
GPUS = {ZONES[2]: "nvidia-tesla-t4"}
"""Where GPUs can be attached, and which."""
BASE = "https://www.googleapis.com/compute/v1/projects/my-project"
FIXED = {
    "": {"name": PROJECT},
    "/regions": {"items": [{"name": REGION}, {"name": "europe-west4"}]},
    f"/regions/{REGION}": {"zones": [f"{BASE}/zones/{zone}" for zone in ZONES]},
}
SHOWN = ("labels", "metadata", "scheduling", "guestAccelerators")
WORDS = re.compile(r'labels\.([a-z-]+)="([^"]*)"')


def problem(status: int, reason: str, message: str) -> tuple[int, Any]:
    """A refusal."""
    errors = [{"reason": reason, "message": message}]
    return status, {"error": {"code": status, "message": message, "errors": errors}}


@dataclass
class GcpStandIn(StandIn):
    """Its operations are done when they are looked at a second time."""

    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    firewalls: dict[str, Any] = field(default_factory=dict)
    operations: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    full: set[str] = field(default_factory=set)

    def answer(self, call: Call) -> tuple[int, Any]:
        """What Google does."""
        if call.authorization != "Bearer secret":
            return problem(401, "authError", "Invalid Credentials")
        path = call.path.removeprefix(f"/projects/{PROJECT}")
        if path in FIXED:
            return 200, FIXED[path]
        if path == "/aggregated/instances":
            return 200, {"items": self._list(call.query.get("filter", ""))}
        if path.startswith("/global/firewalls"):
            return self._firewall(call, path.removeprefix("/global/firewalls").strip("/"))
        _, _, zone, kind, name, *action = path.split("/")
        if kind == "operations":
            operation = self.operations[name]
            operation["status"] = "DONE"
            return 200, operation
        if name == "bulkInsert":
            return self._insert(call, zone)
        return self._change(f"{zone}/{name}", call.method, action)

    def _list(self, wanted: str) -> dict[str, Any]:
        marks = dict(WORDS.findall(wanted))
        found: dict[str, Any] = {}
        for each in self.machines.values():
            if marks.items() <= each.get("labels", {}).items():
                zone = each["zone"].rpartition("/")[2]
                found.setdefault(f"zones/{zone}", {"instances": []})["instances"].append(dict(each))
            if each["status"] == "PROVISIONING":
                plug = {"networkIP": "10.0.0.2", "accessConfigs": [{"natIP": "192.0.2.8"}]}
                each.update(status="RUNNING", networkInterfaces=[plug])
        return found

    def _firewall(self, call: Call, name: str) -> tuple[int, Any]:
        if call.method == "POST":
            if call.body["name"] in self.firewalls:
                return problem(409, "alreadyExists", "The resource already exists.")
            self.firewalls[call.body["name"]] = call.body
        elif self.firewalls.pop(name, None) is None:
            return problem(404, "notFound", "The resource was not found.")
        return 200, self._operation("")

    def _operation(self, zone: str, **more: Any) -> dict[str, Any]:
        name = f"operation-{len(self.operations)}"
        begun = {"name": name, "status": "RUNNING", "zone": f"{BASE}/zones/{zone}", **more}
        self.operations[name] = begun
        return dict(begun)

    def _insert(self, call: Call, zone: str) -> tuple[int, Any]:
        known = self.seen.get(call.query["requestId"])
        if known:
            return 200, self.operations[known]
        given = call.body["instanceProperties"]
        if given["machineType"] not in (TYPE, HOST):
            return problem(400, "invalid", "Invalid value for field 'machineType'.")
        for gpus in given.get("guestAccelerators", []):
            if gpus["acceleratorType"] != GPUS.get(zone):
                return problem(404, "notFound", f"{zone} has no {gpus['acceleratorType']}.")
            if given["scheduling"].get("onHostMaintenance") != "TERMINATE":
                return problem(400, "invalid", "Instances with GPUs do not migrate.")
        error = {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": f"{zone} has no room."}
        if zone in self.full:
            return 200, self._operation(zone, error={"errors": [error]}, httpErrorStatusCode=503)
        for name in call.body["perInstanceProperties"]:
            self.machines[f"{zone}/{name}"] = {
                "name": name,
                "zone": f"{BASE}/zones/{zone}",
                "status": "PROVISIONING",
                "machineType": f"{BASE}/zones/{zone}/machineTypes/{given['machineType']}",
                **{key: given[key] for key in SHOWN if key in given},
            }
        made = self._operation(zone)
        self.seen[call.query["requestId"]] = made["name"]
        return 200, made

    def _change(self, name: str, method: str, action: list[str]) -> tuple[int, Any]:
        if name not in self.machines:
            return problem(404, "notFound", "The resource was not found.")
        if method == "DELETE":
            del self.machines[name]
        else:
            states = {"stop": "TERMINATED", "start": "PROVISIONING"}
            self.machines[name]["status"] = states[action[0]]
        return 200, self._operation(name.partition("/")[0])
