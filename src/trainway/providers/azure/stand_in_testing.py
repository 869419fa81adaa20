"""Azure Resource Manager as its documentation describes it, as far as the provider asks.

Names come back with another case, lists in pages of two, and what is begun is done when it is
looked at again.
"""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from trainway.providers.web_api_testing import Call, StandIn

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
BASE = f"/subscriptions/{SUBSCRIPTION}"
REGION = "eastus"
TYPE = "Standard_D8s_v5"
PAGE = 2
TAGS = re.compile(r"tagName eq '([^']*)' and tagValue eq '([^']*)'")
MACHINES = "Microsoft.Compute/virtualMachines"


def capabilities(**told: str) -> list[dict[str, str]]:
    """What a size is said to have."""
    return [{"name": name, "value": value} for name, value in told.items()]


def sku(name: str, family: str, **told: str) -> dict[str, Any]:
    """A size, as Azure lists it."""
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": family,
        "capabilities": capabilities(HyperVGenerations="V1,V2", PremiumIO="True", **told),
        "locationInfo": [{"location": "EastUS", "zones": ["1", "2"]}],
        "restrictions": [],
    }


SKUS = [
    {"resourceType": "disks", "name": "Premium_LRS"},
    sku(TYPE, "standardDSv5Family", vCPUs="8", AcceleratedNetworkingEnabled="True"),
    sku("Standard_NC4as_T4_v3", "Standard NCASv3_T4 Family", vCPUs="4", GPUs="1"),
]
USAGES: list[dict[str, Any]] = [
    {"name": {"value": "cores"}, "currentValue": 20, "limit": 100},
    {"name": {"value": "standardDSv5Family"}, "currentValue": 0, "limit": 20},
    {"name": {"value": "lowPriorityCores"}, "currentValue": 0, "limit": 50},
]


def problem(status: int, code: str, message: str = "Something is wrong.") -> tuple[int, Any]:
    """A refusal."""
    return status, {"error": {"code": code, "message": message}}


@dataclass
class AzureStandIn(StandIn):
    """One subscription."""

    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    things: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is in the groups, by its path in small letters."""
    failing: dict[str, str] = field(default_factory=dict)
    """The machines that are not made, by the ends of their names, and why."""
    lagging: bool = False
    """Whether lists of groups do not have the latest yet."""
    locked: bool = False
    """Whether no group can be deleted."""
    skus: list[dict[str, Any]] = field(default_factory=lambda: list(SKUS))

    def answer(self, call: Call) -> tuple[int, Any]:
        """What Azure does."""
        if call.authorization != "Bearer secret":
            return problem(401, "InvalidAuthenticationToken")
        if "api-version" not in call.query:
            return problem(400, "MissingApiVersionParameter")
        listed = self._listed(call)
        if listed is not None:
            return 200, self._page(call, listed)
        if call.path == BASE:
            told = {"subscriptionId": SUBSCRIPTION, "displayName": "Research", "state": "Enabled"}
            return 200, told
        _, _, _, _, group, *rest = call.path.split("/")
        if not rest:
            return self._group(call, group.lower())
        if group.lower() not in self.groups:
            return problem(404, "ResourceGroupNotFound")
        if len(rest) == 5:
            return self._change(call.path.rpartition("/")[0].lower(), rest[-1])
        return self._thing(call, call.path.lower())

    def machines(self) -> dict[str, dict[str, Any]]:
        """All machines."""
        return {key: each for key, each in self.things.items() if f"/{MACHINES.lower()}/" in key}

    def living(self) -> list[str]:
        """The groups that are not being deleted."""
        going = {"provisioningState": "Deleting"}
        return [name for name, each in self.groups.items() if each["properties"] != going]

    def power(self, end: str, state: str) -> None:
        """Let machines come to a state by themselves."""
        for key, each in self.machines().items():
            if key.endswith(end):
                each["power"] = state

    def _listed(self, call: Call) -> list[dict[str, Any]] | None:
        fixed: dict[str, list[dict[str, Any]]] = {
            "/subscriptions": [{"subscriptionId": SUBSCRIPTION}],
            f"{BASE}/locations": [
                {"name": REGION, "metadata": {"regionType": "Physical"}},
                {"name": "westeurope", "metadata": {"regionType": "Physical"}},
                {"name": "europe", "metadata": {"regionType": "Logical"}},
            ],
            f"{BASE}/providers/Microsoft.Compute/skus": self.skus,
            f"{BASE}/providers/Microsoft.Compute/locations/{REGION}/usages": USAGES,
        }
        if call.path in fixed:
            return fixed[call.path]
        if call.path == f"{BASE}/resourcegroups":
            name, value = TAGS.findall(call.query["$filter"])[0]
            groups = [] if self.lagging else self.groups.values()
            return [each for each in groups if each["tags"].get(name) == value]
        found = re.fullmatch(rf"{BASE}(/resourceGroups/[^/]+)?/providers/([^/]+/[^/]+)", call.path)
        if not found or call.method != "GET":
            return None
        begins = f"{BASE}{found[1] or ''}/".lower()
        listed = []
        for key, each in self.things.items():
            if key.startswith(begins) and f"/providers/{found[2]}/".lower() in key:
                is_told = call.query.get("statusOnly") == "true"
                listed.append(self._shown(each, with_state=is_told))
        return listed

    def _page(self, call: Call, listed: list[dict[str, Any]]) -> dict[str, Any]:
        start = int(call.query.get("$skiptoken", 0))
        page: dict[str, Any] = {"value": listed[start : start + PAGE]}
        if start + PAGE < len(listed):
            query = urlencode({**call.query, "$skiptoken": str(start + PAGE)})
            page["nextLink"] = f"https://management.azure.com{call.path}?{query}"
        return page

    def _group(self, call: Call, name: str) -> tuple[int, Any]:
        if call.method == "PUT":
            if self.groups.get(name, {}).get("properties") == {"provisioningState": "Deleting"}:
                return problem(409, "ResourceGroupBeingDeleted")
            done = {"provisioningState": "Succeeded"}
            self.groups[name] = {"name": name.upper(), "properties": done, **call.body}
        if name not in self.groups:
            return problem(404, "ResourceGroupNotFound")
        found = self.groups[name]
        shown = {**found, "properties": dict(found["properties"])}
        if call.method == "DELETE" and self.locked:
            return 202, None
        if call.method == "DELETE":
            found["properties"] = {"provisioningState": "Deleting"}
        elif shown["properties"].get("provisioningState") == "Deleting":
            self._vanish(name)
        return (202, None) if call.method == "DELETE" else (200, shown)

    def _vanish(self, name: str) -> None:
        del self.groups[name]
        begins = f"{BASE}/resourceGroups/{name}/".lower()
        self.things = {key: each for key, each in self.things.items() if not key.startswith(begins)}

    def _thing(self, call: Call, key: str) -> tuple[int, Any]:
        if call.method == "PUT":
            refused = self._make(call, key)
            return refused or (201, self.things[key])
        if key not in self.things:
            return problem(404, "ResourceNotFound")
        if call.method == "DELETE":
            self._delete(key)
            return 202, None
        return 200, self._shown(self.things[key], with_state="$expand" in call.query)

    def _make(self, call: Call, key: str) -> tuple[int, Any] | None:
        properties = dict(call.body["properties"])
        is_machine = MACHINES.lower() in key
        if is_machine:
            size = properties["hardwareProfile"]["vmSize"]
            if size not in {each["name"] for each in self.skus}:
                return problem(400, "InvalidParameter")
            self._plug(key, call.path.rpartition("/")[2], properties)
        properties["provisioningState"] = "Creating" if is_machine else "Updating"
        ends = call.path.split("/")
        shouted = [*ends[:4], ends[4].upper(), *ends[5:]]
        made = {**call.body, "id": "/".join(shouted), "name": ends[-1], "properties": properties}
        self.things[key] = {**made, "power": ""}
        return None

    def _plug(self, key: str, name: str, properties: dict[str, Any]) -> None:
        """The interface and the address that come with a machine."""
        wanted = properties["networkProfile"].pop("networkInterfaceConfigurations")[0]["properties"]
        plug = wanted["ipConfigurations"][0]["properties"]
        inside = key.partition("/providers/")[0]
        for needed in (wanted["networkSecurityGroup"]["id"], plug["subnet"]["id"]):
            assert needed.lower().partition("/subnets/")[0] in self.things
        told: dict[str, Any] = {"privateIPAddress": f"10.0.0.{4 + int(name.rpartition('-')[2])}"}
        if "publicIPAddressConfiguration" in plug:
            address = f"{inside}/providers/microsoft.network/publicipaddresses/{name}"
            self.things[address] = {"id": address, "properties": {"ipAddress": "192.0.2.8"}}
            told["publicIPAddress"] = {"id": address.upper()}
        interface = f"{inside}/providers/microsoft.network/networkinterfaces/{name}"
        plugs = {"virtualMachine": {"id": key.upper()}, "ipConfigurations": [{"properties": told}]}
        self.things[interface] = {"id": interface, "properties": plugs}

    def _delete(self, key: str) -> None:
        name = key.rpartition("/")[2]
        inside = key.partition("/providers/")[0]
        for each in [each for each in self.things if each.startswith(inside)]:
            if each.endswith(f"/{name}"):
                del self.things[each]

    def _change(self, key: str, action: str) -> tuple[int, Any]:
        if key not in self.things:
            return problem(404, "ResourceNotFound")
        self.things[key]["power"] = {"deallocate": "deallocating", "start": "starting"}[action]
        return 202, None

    def _shown(self, each: dict[str, Any], *, with_state: bool) -> dict[str, Any]:
        """A thing as it is; afterwards what was begun is done."""
        properties = dict(each["properties"])
        state = each.get("power", "")
        why = next((why for end, why in self.failing.items() if each["id"].endswith(end)), "")
        if with_state:
            codes = [f"PowerState/{state}"] if state else []
            if properties.get("provisioningState") == "Failed":
                codes = [f"ProvisioningState/failed/{why}"]
            told = [{"code": code, "message": "There is no room.\nTry again."} for code in codes]
            properties["instanceView"] = {"statuses": told}
            after = {"": "running", "starting": "running", "deallocating": "deallocated"}
            each["power"] = after.get(state, state)
        if with_state or "Microsoft.Network" in each["id"]:
            done = "Failed" if why else "Succeeded"
            each["properties"] = {**each["properties"], "provisioningState": done}
        shown = {key: value for key, value in each.items() if key != "power"}
        return {**shown, "properties": properties}
