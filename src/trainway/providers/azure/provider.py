"""Microsoft Azure as a provider: the order of calls, each of which may be the last before a kill.

A request has a resource group, which is made first and carries our tags. A group that was made and
holds no machine is shown by `find` too, so that nothing is left of which only Azure knows.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from trainway.providers.abilities import require
from trainway.providers.azure import answers
from trainway.providers.azure.calls import (
    COMPUTE,
    NETWORKS,
    RESOURCES,
    SKUS,
    SUBSCRIPTIONS,
    AzureCalls,
)
from trainway.providers.azure.login import no_credentials
from trainway.providers.azure.requests import (
    FIREWALL,
    MACHINE,
    MISSING,
    NETWORK,
    SETTINGS,
    firewall,
    group_name,
    machine_name,
    network,
    owned_by,
    resource_group,
    virtual_machine,
)
from trainway.providers.azure.sizes import Size, check_place, left, sizes
from trainway.providers.base import (
    CLUSTER_TAG,
    OWNER_TAG,
    Ability,
    GangRequest,
    Identity,
    Machine,
    Notice,
    Place,
    living,
)
from trainway.providers.errors import ProviderError, Scope, Trouble, not_ours
from trainway.providers.settings import check
from trainway.providers.web_api import RefusalError

SIZES_S: Final = 3600.0
"""How long is believed what Azure says of sizes: a subscription may be allowed more of them."""
USABLE: Final = frozenset({"Enabled", "Warned", "PastDue"})


class AzureProvider:
    """Machines of Microsoft Azure."""

    cloud = "azure"

    def __init__(self, calls: AzureCalls | None = None) -> None:
        self._calls = calls or AzureCalls()
        self._lock = threading.Lock()
        self._sizes: dict[str, tuple[float, dict[str, Size]]] = {}

    def missing(self) -> Mapping[Ability, str]:
        """A few things."""
        return MISSING

    def check(self) -> Identity:
        """Whether the subscription can be used."""
        found = self._calls.get(self._calls.subscription, SUBSCRIPTIONS)
        name, state = found.get("displayName", ""), found.get("state", "Enabled")
        if state not in USABLE:
            raise no_credentials(f"the subscription {name} is {state}")
        account = f"{name} ({found['subscriptionId']})"
        return Identity(account, self._calls.login().user, "azure-identity")

    def regions(self) -> list[str]:
        """All that the subscription sees."""
        found = self._calls.pages(f"{self._calls.subscription}/locations", SUBSCRIPTIONS)
        kinds = {each["name"]: (each.get("metadata") or {}).get("regionType") for each in found}
        return sorted(name for name, kind in kinds.items() if kind in (None, "Physical"))

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:
        """Counted in CPUs by Azure, for each family of sizes and for the region."""
        size = self._size(place.region, instance_type)
        if size is None:
            return None
        compute = f"{self._calls.subscription}/providers/Microsoft.Compute"
        found = self._calls.pages(f"{compute}/locations/{place.region}/usages", COMPUTE)
        return left(found, size, spot=spot)

    def create(self, request: GangRequest) -> list[Machine]:
        """All machines at once; if one of them is refused, its resource group goes again."""
        check(self.cloud, request.settings, SETTINGS)
        require("Azure", request, MISSING)
        found = self._size(request.place.region, request.instance_type)
        size = check_place(found, request)
        path = self._calls.group(group_name(request.token))
        bodies = {
            machine_name(request, rank): virtual_machine(request, rank, size, path)
            for rank in range(request.count)
        }
        try:
            return self._make(request, path, bodies)
        except ProviderError as error:
            if error.scope is not Scope.NONE:
                with suppress(ProviderError):  # `find` shows what is left of it
                    self._remove(group_name(request.token))
            if error.scope is Scope.ZONE and not request.place.zone:  # no catalog has its zones
                error.scope = Scope.REGION
            error.spot_only |= request.spot and error.trouble is Trouble.CAPACITY
            raise

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """By the tags of resource groups, with all machines of ours in them."""
        found = self._group(owner, token) if token else self._groups(owner)
        groups = {each.name: each for each in found if each.region == region and not each.is_going}
        if not groups:
            return []
        scope = self._calls.group(group_name(token)) if token else self._calls.subscription
        inside = [each for each in self._listed(scope) if answers.group_of(each) in groups]
        used = {answers.group_of(each) for each in inside}
        machines = self._machines([each for each in inside if answers.is_ours(each)], scope)
        machines += [answers.remains(each) for name, each in groups.items() if name not in used]
        return living(machines)

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """Deallocate them: they keep their disks and addresses."""
        del region
        self._each(machines, "deallocate")

    def start(self, region: str, machines: Sequence[str]) -> None:
        """Azure may have no room for them by now."""
        del region
        self._each(machines, "start")

    def end(self, region: str, machines: Sequence[str]) -> None:
        """Only what carries our tag; with the last machine goes the group and all that is in it."""
        del region
        wanted: dict[str, set[str]] = defaultdict(set)
        for each in machines:
            group, _, name = each.partition("/")
            wanted[group].add(name)
        foreign: list[str] = []
        for group, names in wanted.items():
            foreign += self._end_in(group, names)
        if foreign:
            raise not_ours("Azure", foreign)

    def release(self, region: str, owner: str, cluster: str) -> None:
        """All resource groups of a cluster."""
        for each in self._groups(owner):
            if each.region == region and each.tags.get(CLUSTER_TAG) == cluster:
                self._end_in(each.name, set())

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:  # noqa: ARG002 - none
        """They are only told inside the machine."""
        return []

    def _make(self, request: GangRequest, path: str, bodies: Mapping[str, object]) -> list[Machine]:
        """Make what is not there yet, and wait until Azure has found room for all machines."""
        self._calls.put(path, RESOURCES, resource_group(request))
        if not request.settings.get("security_group"):
            self._calls.put_and_wait(f"{path}/{FIREWALL}", NETWORKS, firewall(request))
        if not request.settings.get("subnet"):
            self._calls.put_and_wait(f"{path}/{NETWORK}", NETWORKS, network(request))
        for name, body in bodies.items():
            if self._look(path, name) is None:
                self._calls.put(f"{path}/{MACHINE}/{name}", COMPUTE, body)
        for _ in self._calls.looks():
            found = [each for name in bodies if (each := self._look(path, name)) is not None]
            for each in found:
                if refused := answers.failure(each):
                    raise RefusalError("Azure", 409, refused)
            if len(found) < request.count:
                raise _no_room(f"only {len(found)} of {request.count} machines are left")
            if all(map(answers.has_room, found)):
                return [answers.machine(each) for each in found]
        raise _no_room("it has not found room for the machines in a quarter of an hour")

    def _look(self, group: str, name: str) -> dict[str, Any] | None:
        query = {"$expand": "instanceView"}
        return self._calls.seen(f"{group}/{MACHINE}/{name}", COMPUTE, **query)

    def _groups(self, owner: str) -> list[answers.Group]:
        path, query = f"{self._calls.subscription}/resourcegroups", {"$filter": owned_by(owner)}
        return [answers.group(each) for each in self._calls.pages(path, RESOURCES, **query)]

    def _group(self, owner: str, token: str) -> list[answers.Group]:
        found = self._calls.seen(self._calls.group(group_name(token)), RESOURCES)
        groups = [answers.group(found)] if found else []
        return [each for each in groups if each.tags.get(OWNER_TAG) == owner]

    def _listed(self, scope: str) -> list[dict[str, Any]]:
        """All machines of the subscription or of a group, with what they are doing."""
        path = f"{scope}/{MACHINE}"
        listed = self._calls.pages(path, COMPUTE)
        if scope != self._calls.subscription:
            looks = [self._look(scope, str(each["name"])) for each in listed]
            return [each for each in looks if each is not None]
        told = self._calls.pages(path, COMPUTE, statusOnly="true") if listed else []
        return answers.with_states(listed, told)

    def _machines(self, ours: Sequence[Mapping[str, Any]], scope: str) -> list[Machine]:
        """Machines with their addresses; those that have shut down are deallocated."""
        if not ours:
            return []
        networks = f"{scope}/providers/Microsoft.Network"
        reached = answers.addresses(
            self._calls.pages(f"{networks}/networkInterfaces", NETWORKS),
            self._calls.pages(f"{networks}/publicIPAddresses", NETWORKS),
        )
        with suppress(ProviderError):  # they are seen again
            halted = [answers.machine_id(each) for each in ours if answers.is_halted(each)]
            self._each(halted, "deallocate")
        return [answers.machine(each, reached) for each in ours]

    def _end_in(self, group: str, names: set[str]) -> list[str]:
        """End machines of a group, or all of ours; and the group itself, if no other is left in it.

        Gives what was not ended, since it is not ours.
        """
        path = self._calls.group(group)
        found = self._calls.seen(path, RESOURCES)
        if found is None:
            return []
        if not answers.is_ours(found):
            return [f"{group}/{name}".rstrip("/") for name in sorted(names)]
        there = {
            str(each["name"]).lower(): answers.is_ours(each)
            for each in self._calls.pages(f"{path}/{MACHINE}", COMPUTE)
            if answers.provisioning(each) != answers.DELETING
        }
        ours = {name for name, is_ours in there.items() if is_ours}
        wanted = names & ours if any(names) else ours
        if wanted == set(there):
            self._remove(group)
        else:
            for name in sorted(wanted):
                self._calls.delete(f"{path}/{MACHINE}/{name}", COMPUTE, forceDeletion="true")
        return [f"{group}/{name}" for name in sorted(names & (set(there) - ours))]

    def _remove(self, group: str) -> None:
        """Delete a group with all that is in it, and wait until no machine is left there."""
        path = self._calls.group(group)
        kinds = {"forceDeletionTypes": "Microsoft.Compute/virtualMachines"}
        self._calls.delete(path, RESOURCES, **kinds)
        for _ in self._calls.looks():
            if not self._calls.pages(f"{path}/{MACHINE}", COMPUTE):
                return
            found = self._calls.seen(path, RESOURCES)
            if found is None:
                return
            if not answers.group(found).is_going:
                break
        raise ProviderError(
            f"Azure: the resource group {group} is not deleted",
            trouble=Trouble.OTHER,
            scope=Scope.NONE,
            hint="a lock may forbid it, which the Azure portal shows",
        )

    def _each(self, machines: Sequence[str], action: str) -> None:
        """Begin something with each of them; one that is gone is left out."""
        for each in machines:
            group, _, name = each.partition("/")
            if not name:
                raise ProviderError(
                    f"Azure: the resource group {group} has no machines any more",
                    trouble=Trouble.INVALID,
                    scope=Scope.REGION,
                )
            self._calls.post(f"{self._calls.group(group)}/{MACHINE}/{name}/{action}", COMPUTE)

    def _size(self, region: str, name: str) -> Size | None:
        with self._lock:
            at, known = self._sizes.get(region, (0.0, {}))
        if not known or time.monotonic() - at > SIZES_S:
            path = f"{self._calls.subscription}/providers/Microsoft.Compute/skus"
            query = {"$filter": f"location eq '{region}'"}
            known = sizes(self._calls.pages(path, SKUS, **query), region)
            with self._lock:
                self._sizes[region] = (time.monotonic(), known)
        return known.get(name.lower())


def _no_room(message: str) -> ProviderError:
    return ProviderError(f"Azure: {message}", trouble=Trouble.CAPACITY, scope=Scope.ZONE)
