"""Azure, against a stand-in that was written from its documentation."""

import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from trainway.providers import backoff
from trainway.providers.azure.calls import AzureCalls
from trainway.providers.azure.login import Login, azure_login, chosen
from trainway.providers.azure.provider import AzureProvider
from trainway.providers.azure.refusals import complaint
from trainway.providers.azure.stand_in_testing import (
    BASE,
    REGION,
    SUBSCRIPTION,
    TYPE,
    AzureStandIn,
    problem,
)
from trainway.providers.base import MachineState, Place, Provider
from trainway.providers.contract_testing import OWNER, ProviderContract, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.web_api import RefusalError, WebApi
from trainway.providers.web_api_testing import Call, served

PLACE = Place(REGION)
GROUPS = f"PUT {BASE}/resourceGroups/"


@pytest.fixture
def cloud() -> AzureStandIn:
    return AzureStandIn()


@pytest.fixture
def provider(cloud: AzureStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    with served(cloud) as address:
        login = Login("secret", SUBSCRIPTION)
        yield AzureProvider(AzureCalls(address, lambda: login, lambda _: None))


class TestAzure(ProviderContract):
    place = PLACE
    instance_type = TYPE

    @pytest.fixture
    def provider(self, provider: Provider) -> Provider:
        return provider


def test_nothing_is_left_of_what_is_ended(cloud: AzureStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE, 3)
    made = ids(provider.create(request))
    assert len(cloud.machines()) == 3
    provider.end(REGION, made)
    assert cloud.groups == {}
    assert cloud.things == {}


def test_one_machine_goes_with_its_interface_and_address(
    cloud: AzureStandIn, provider: Provider
) -> None:
    first = ids(provider.create(gang(PLACE, TYPE)))[0]
    provider.end(REGION, [first])
    kinds = sorted(key.split("/")[-2] for key in cloud.things)
    assert kinds == [
        "networkinterfaces",
        "networksecuritygroups",
        "publicipaddresses",
        "virtualmachines",
        "virtualnetworks",
    ]


def test_half_a_gang_is_taken_down(cloud: AzureStandIn, provider: Provider) -> None:
    cloud.failing = {"-1": "AllocationFailed"}
    with pytest.raises(ProviderError, match=r"There is no room \(AllocationFailed\)") as caught:
        provider.create(gang(PLACE, TYPE, 3))
    assert (caught.value.trouble, caught.value.scope) == (Trouble.CAPACITY, Scope.REGION)
    assert not caught.value.spot_only
    assert cloud.things == {}

    zone = replace(gang(Place(REGION, "1"), TYPE), spot=True)
    with pytest.raises(ProviderError) as caught:
        provider.create(zone)
    assert (caught.value.scope, caught.value.spot_only) == (Scope.ZONE, True)
    assert cloud.things == {}


def test_a_refusal_of_a_later_machine_takes_the_first_with_it(
    cloud: AzureStandIn, provider: Provider
) -> None:
    request = gang(PLACE, TYPE)
    name = f"trainway-{request.cluster}"
    group = f"{BASE}/resourceGroups/trainway-{request.token}"
    quota = problem(409, "OperationNotAllowed", "It exceeds the approved Cores quota.")
    cloud.refuse(f"PUT {group}/providers/Microsoft.Compute/virtualMachines/{name}-1", *quota)
    with pytest.raises(ProviderError, match="Cores quota") as caught:
        provider.create(request)
    assert (caught.value.trouble, caught.value.scope) == (Trouble.QUOTA, Scope.REGION)
    assert "Quotas" in (caught.value.hint or "")
    assert cloud.things == {}


class Killed(BaseException):
    """The server is gone."""


def test_a_kill_before_any_call_leaves_what_can_be_completed_or_ended(
    cloud: AzureStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the next call is after this one. Nothing goes over a socket, for there are many."""
    left: list[int] = []

    def sent(_: WebApi, method: str, path: str, body: object) -> Any:
        if left:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
        asked = urlsplit(path)
        call = Call(method, asked.path, body, "Bearer secret", dict(parse_qsl(asked.query)))
        status, answer = cloud.respond(call)
        if status >= 400:
            raise RefusalError("Azure", status, complaint(status, answer))
        return deepcopy(answer)

    monkeypatch.setattr(WebApi, "_send", sent)
    login = Login("secret", SUBSCRIPTION)
    provider = AzureProvider(AzureCalls("", lambda: login, lambda _: None))
    for step in count():
        first, second = gang(PLACE, TYPE), gang(PLACE, TYPE)
        was_killed = False
        for request in (first, second):
            left[:] = [step]
            try:
                provider.create(request)
            except Killed:
                was_killed = True
            left.clear()

        assert len(provider.create(first)) == 2
        assert len(cloud.machines()) <= 4
        for request in (first, second):
            found = ids(provider.find(REGION, OWNER, request.token))
            provider.end(REGION, found)
        assert cloud.living() == []
        assert provider.find(REGION, OWNER) == []
        if not was_killed:
            break
    assert step > 8, "there were calls to be killed at"


def test_a_group_without_machines_is_seen_and_swept(
    cloud: AzureStandIn, provider: Provider
) -> None:
    request = gang(PLACE, TYPE)
    cloud.refuse(GROUPS, 502, after=True)
    with pytest.raises(ProviderError) as caught:
        provider.create(request)
    assert caught.value.scope is Scope.NONE
    (left,) = provider.find(REGION, OWNER)
    assert (left.token, left.cluster) == (request.token, request.cluster)
    assert left.state is MachineState.STOPPED
    with pytest.raises(ProviderError, match="has no machines any more"):
        provider.start(REGION, [left.id])

    provider.end(REGION, [left.id])
    assert provider.find(REGION, OWNER) == []
    assert cloud.living() == []


def test_what_lists_do_not_have_yet_is_found_by_its_token(
    cloud: AzureStandIn, provider: Provider
) -> None:
    cloud.lagging = True
    request = gang(PLACE, TYPE)
    made = ids(provider.create(request))
    assert provider.find(REGION, OWNER) == []
    assert ids(provider.find(REGION, OWNER, request.token)) == made
    assert provider.find("westeurope", OWNER, request.token) == []
    provider.end(REGION, made)
    assert cloud.things == {}


def test_a_machine_that_shuts_down_is_not_paid_for(cloud: AzureStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE)
    provider.create(request)
    provider.find(REGION, OWNER)
    cloud.power("-1", "stopped")
    states = [each.state for each in provider.find(REGION, OWNER)]
    assert states == [MachineState.RUNNING, MachineState.STOPPING]
    states = [each.state for _ in range(2) for each in provider.find(REGION, OWNER)]
    assert states[3] is MachineState.STOPPED
    assert [call.path.rpartition("/")[2] for call in cloud.calls].count("deallocate") == 1


def test_what_others_have_stays(cloud: AzureStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE)
    made = ids(provider.create(request))
    group = made[0].partition("/")[0]
    theirs = f"{BASE}/resourcegroups/{group}/providers/microsoft.compute/virtualmachines/web"
    cloud.things[theirs] = {"id": theirs, "name": "web", "location": REGION, "properties": {}}
    cloud.groups["mine"] = {"name": "mine", "location": REGION, "tags": {}, "properties": {}}

    assert ids(provider.find(REGION, OWNER)) == made
    with pytest.raises(ProviderError, match=f"mine/web, {group}/web: not ended"):
        provider.end(REGION, ["mine/web", *made, f"{group}/web"])
    provider.release(REGION, OWNER, request.cluster)
    assert list(cloud.machines()) == [theirs]
    assert set(cloud.groups) == {"mine", group}
    assert provider.find(REGION, OWNER) == []


def test_a_group_that_cannot_be_deleted_is_told(cloud: AzureStandIn, provider: Provider) -> None:
    made = ids(provider.create(gang(PLACE, TYPE)))
    cloud.locked = True
    with pytest.raises(ProviderError, match="is not deleted") as caught:
        provider.end(REGION, made)
    assert caught.value.scope is Scope.NONE
    assert ids(provider.find(REGION, OWNER)) == made


def test_a_cluster_releases_all_its_groups(cloud: AzureStandIn, provider: Provider) -> None:
    first, other = gang(PLACE, TYPE), gang(PLACE, TYPE)
    second = replace(gang(PLACE, TYPE), cluster=first.cluster)
    for request in (first, second, other):
        provider.create(request)
    provider.release(REGION, OWNER, first.cluster)
    assert {each.token for each in provider.find(REGION, OWNER)} == {other.token}
    assert provider.find("westeurope", OWNER) == []


def test_quota_and_place_are_looked_up_first(cloud: AzureStandIn, provider: Provider) -> None:
    assert provider.quota(PLACE, TYPE, spot=False) == 2
    assert provider.quota(PLACE, "no-such-type", spot=False) is None
    with pytest.raises(ProviderError, match="zone 3 of eastus, only in the zones 1, 2"):
        provider.create(gang(Place(REGION, "3"), TYPE))
    with pytest.raises(ProviderError, match=r"clouds\.azure\.vnet: there is no such setting"):
        provider.create(replace(gang(PLACE, TYPE), settings={"vnet": "v"}))
    assert not [call for call in cloud.calls if call.method != "GET"]


def test_throttling_is_waited_for(cloud: AzureStandIn, provider: Provider) -> None:
    cloud.refuse(GROUPS, *problem(429, "TooManyRequests"))
    assert len(provider.create(gang(PLACE, TYPE))) == 2


def test_the_only_subscription_is_found(cloud: AzureStandIn) -> None:
    with served(cloud) as address:
        calls = AzureCalls(address, lambda: Login("secret"), lambda _: None)
        assert AzureProvider(calls).check().account == f"Research ({SUBSCRIPTION})"


def test_a_subscription_that_is_chosen_meanwhile_hides_no_machines() -> None:
    logins = [Login("secret", "a"), Login("secret", "b")]
    calls = AzureCalls("", lambda: logins.pop(0))
    assert [calls.subscription, calls.subscription] == ["/subscriptions/a"] * 2


def test_the_subscription_of_the_command_az_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AZURE_SUBSCRIPTION_ID", "AZURE_CLIENT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path))
    assert chosen("t") == Login("t")
    profile = tmp_path / "azureProfile.json"
    profile.write_text("[]")
    assert chosen("t").subscription == ""
    profile.write_text(
        '\ufeff{"subscriptions": [{"id": "a"}, {"id": "b", "isDefault": true,'
        ' "user": {"name": "me@example.com"}}]}',
        encoding="utf-8",
    )
    assert chosen("t") == Login("t", "b", "me@example.com")
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "c")
    assert chosen("t").subscription == "c"


def test_a_token_is_kept_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    class AzureError(Exception):
        pass

    soon = time.time() + 60
    given = iter([(0.0, "old"), (soon, "brief"), (0.0, ""), (9e9, "new")])

    class DefaultAzureCredential:
        def __init__(self, **_: object) -> None:
            pass

        def get_token(self, scope: str) -> SimpleNamespace:
            assert scope == "https://management.azure.com/.default"
            expires, token = next(given, (0.0, ""))
            if not token:
                raise AzureError("It failed.\nAADSTS7000215: Invalid client secret. Trace: 1\n")
            return SimpleNamespace(token=token, expires_on=expires)

    for name, found in (
        ("azure.identity", DefaultAzureCredential),
        ("azure.core.exceptions", AzureError),
    ):
        module = ModuleType(name)
        setattr(module, found.__name__, found)
        monkeypatch.setitem(sys.modules, name, module)
    login = azure_login()
    assert [login().token for _ in range(5)] == ["old", "brief", "brief", "new", "new"]
    with pytest.raises(ProviderError, match=r"AADSTS7000215: Invalid client secret$") as caught:
        azure_login()()
    assert "az login" in (caught.value.hint or "")
