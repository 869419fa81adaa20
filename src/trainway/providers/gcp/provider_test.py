"""Google Cloud, against a stand-in that was written from its documentation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from trainway.providers import backoff
from trainway.providers.base import Place, Provider
from trainway.providers.contract_testing import KEY, OWNER, ProviderContract, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.gcp.provider import GcpProvider, Login, google_login
from trainway.providers.gcp.requests import bulk_insert, complaint, firewalls
from trainway.providers.gcp.stand_in_testing import (
    HOST,
    PROJECT,
    REGION,
    TYPE,
    ZONE,
    ZONES,
    GcpStandIn,
    problem,
)
from trainway.providers.web_api import RefusalError
from trainway.providers.web_api_testing import served

PLACE = Place(REGION, ZONE)


@pytest.fixture
def cloud() -> GcpStandIn:
    return GcpStandIn()


@pytest.fixture
def provider(cloud: GcpStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    with served(cloud) as address:
        yield GcpProvider(address, lambda: Login(PROJECT, "secret"), lambda _: None)


class TestGcp(ProviderContract):
    place = PLACE
    instance_type = TYPE

    @pytest.fixture
    def provider(self, provider: Provider) -> Provider:
        return provider


class Credentials:
    """What google-auth gives: a token that has to be fetched first."""

    valid, token, service_account_email = False, "", "me@example.com"

    def refresh(self, request: object) -> None:
        assert request is not None
        self.valid, self.token = True, "fresh"


def test_a_token_is_fetched_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Credentials()
    monkeypatch.setattr("google.auth.default", lambda **_: (found, PROJECT))
    assert google_login()() == Login(PROJECT, "fresh", "me@example.com")

    monkeypatch.setattr("google.auth.default", lambda **_: (found, None))
    with pytest.raises(ProviderError, match="no project is chosen") as caught:
        google_login()()
    assert "GOOGLE_CLOUD_PROJECT" in (caught.value.hint or "")


def test_a_gang_is_one_request() -> None:
    request = replace(gang(PLACE, "a3-highgpu-8g"), cluster="train", labels={"team": "vision"})
    group = firewalls(request)[0]["targetTags"][0]
    assert bulk_insert(request) == {
        "count": "2",
        "minCount": "2",
        "perInstanceProperties": {
            f"trainway-train-{request.token[:16]}-0": {},
            f"trainway-train-{request.token[:16]}-1": {},
        },
        "instanceProperties": {
            "machineType": "a3-highgpu-8g",
            "labels": {
                "team": "vision",
                "trainway-cluster": "train",
                "trainway-server": OWNER,
                "trainway-token": request.token,
            },
            "tags": {"items": [group]},
            "metadata": {
                "items": [
                    {"key": "ssh-keys", "value": f"trainway:{KEY}"},
                    {"key": "trainway-user", "value": "trainway"},
                ]
            },
            "disks": [
                {
                    "boot": True,
                    "autoDelete": True,
                    "initializeParams": {
                        "sourceImage": "projects/deeplearning-platform-release/global/images/"
                        "family/common-cu128-ubuntu-2204-nvidia-570",
                        "diskSizeGb": "128",
                        "diskType": "pd-balanced",
                    },
                }
            ],
            "networkInterfaces": [
                {
                    "network": "global/networks/default",
                    "accessConfigs": [{"name": "External NAT", "type": "ONE_TO_ONE_NAT"}],
                }
            ],
            "scheduling": {"onHostMaintenance": "TERMINATE", "automaticRestart": False},
        },
    }


def test_what_is_given_is_used() -> None:
    settings = {"network": "mine", "subnet": "s", "address": "private", "user": "dev"}
    request = replace(
        gang(PLACE, "a4-highgpu-8g"), settings=settings, spot=True, reservation="r1", disk_gib=500
    )
    built = bulk_insert(request)["instanceProperties"]
    assert built["networkInterfaces"] == [
        {"network": "global/networks/mine", "subnetwork": f"regions/{REGION}/subnetworks/s"}
    ]
    assert built["scheduling"]["provisioningModel"] == "SPOT"
    assert built["disks"][0]["initializeParams"]["diskType"] == "hyperdisk-balanced"
    assert built["reservationAffinity"]["values"] == ["r1"]
    assert {"key": "ssh-keys", "value": f"dev:{KEY}"} in built["metadata"]["items"]
    rules = firewalls(replace(request, ports=["8080", "9000-9010"]))
    assert rules[2]["allowed"] == [{"IPProtocol": "tcp", "ports": ["8080", "9000-9010"]}]


def test_gpus_are_attached_to_types_that_have_none() -> None:
    t4 = replace(gang(PLACE, "n1-standard-8"), accelerator="T4", accelerator_count=2)
    built = bulk_insert(t4)["instanceProperties"]
    assert built["machineType"] == "n1-standard-8"
    assert built["guestAccelerators"] == [
        {"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 2}
    ]
    assert built["scheduling"] == {"onHostMaintenance": "TERMINATE", "automaticRestart": False}
    assert "deeplearning" in built["disks"][0]["initializeParams"]["sourceImage"]

    plain = bulk_insert(gang(PLACE, "n1-standard-8"))["instanceProperties"]
    assert "guestAccelerators" not in plain
    assert plain["scheduling"] == {"automaticRestart": False}
    built_in = replace(gang(PLACE, "a2-highgpu-1g"), accelerator="A100", accelerator_count=1)
    assert "guestAccelerators" not in bulk_insert(built_in)["instanceProperties"]


def test_a_machine_with_built_in_gpus_gets_drivers_and_its_kind_of_disk() -> None:
    pro = replace(gang(PLACE, "g4-standard-48"), accelerator="RTXPRO6000", accelerator_count=1)
    built = bulk_insert(pro)["instanceProperties"]
    assert built["scheduling"]["onHostMaintenance"] == "TERMINATE"
    parameters = built["disks"][0]["initializeParams"]
    assert "deeplearning" in parameters["sourceImage"]
    assert parameters["diskType"] == "hyperdisk-balanced"


def test_tpus_are_refused(cloud: GcpStandIn, provider: Provider) -> None:
    request = replace(gang(PLACE, "TPU-VM"), accelerator="tpu-v5e-8", accelerator_count=1)
    with pytest.raises(ProviderError, match="tpu-v5e-8 is not made") as caught:
        provider.create(request)
    assert caught.value.scope is Scope.INSTANCE_TYPE
    assert cloud.calls == []


def test_a_gpu_that_cannot_be_attached_is_refused(cloud: GcpStandIn, provider: Provider) -> None:
    request = replace(gang(PLACE, HOST), accelerator="K80", accelerator_count=1)
    with pytest.raises(ProviderError, match="attaches no K80 to n1-standard-8") as caught:
        provider.create(request)
    assert caught.value.scope is Scope.INSTANCE_TYPE
    assert cloud.calls == []


def test_a_host_is_made_where_its_gpus_are(cloud: GcpStandIn, provider: Provider) -> None:
    request = replace(gang(Place(REGION), HOST), accelerator="T4", accelerator_count=1)
    made = provider.create(request)
    assert {each.place.zone for each in made} == {ZONES[2]}
    gpus = [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}]
    assert [each["guestAccelerators"] for each in cloud.machines.values()] == [gpus, gpus]


def test_a_full_zone_is_followed_by_the_next(cloud: GcpStandIn, provider: Provider) -> None:
    cloud.full = {ZONES[0]}
    made = provider.create(gang(Place(REGION), TYPE))
    assert {each.place.zone for each in made} == {ZONES[1]}

    cloud.full = set(ZONES)
    with pytest.raises(ProviderError, match="has no room") as caught:
        provider.create(gang(Place(REGION), TYPE))
    assert (caught.value.trouble, caught.value.scope) == (Trouble.CAPACITY, Scope.REGION)
    assert len(cloud.machines) == 2


def test_a_lost_answer_makes_nothing_twice(cloud: GcpStandIn, provider: Provider) -> None:
    cloud.refuse(f"POST /projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert", 502, after=True)
    assert len(provider.create(gang(PLACE, TYPE))) == 2
    assert len(cloud.machines) == 2


def test_a_gang_of_which_some_are_gone_is_ended(cloud: GcpStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE, 3)
    del cloud.machines[provider.create(request)[1].id]
    with pytest.raises(ProviderError, match="only 2 of 3 machines are left"):
        provider.create(request)
    assert cloud.machines == {}


def test_rules_of_the_firewall_go_with_their_cluster(cloud: GcpStandIn, provider: Provider) -> None:
    first, second = gang(PLACE, TYPE), gang(PLACE, TYPE)
    for request in (first, first, second):
        provider.create(request)
    provider.release(REGION, OWNER, first.cluster)
    assert len(cloud.firewalls) == 2


def test_a_machine_of_somebody_else_stays(cloud: GcpStandIn, provider: Provider) -> None:
    theirs = {"name": "web", "zone": f"x/{ZONE}", "status": "RUNNING"}
    cloud.machines[f"{ZONE}/web"] = theirs
    mine = ids(provider.create(gang(PLACE, TYPE)))
    with pytest.raises(ProviderError, match="web: not ended"):
        provider.end(REGION, [f"{ZONE}/web", *mine])
    assert list(cloud.machines) == [f"{ZONE}/web"]


def test_gpus_that_are_nowhere_are_not_asked_for_beside_another_host(
    cloud: GcpStandIn, provider: Provider
) -> None:
    cloud.full = set(ZONES)
    plain = gang(Place(REGION, ZONES[2]), HOST)
    with pytest.raises(ProviderError, match="has no room") as caught:
        provider.create(plain)
    assert not caught.value.of_accelerator
    t4 = replace(gang(plain.place, HOST), accelerator="T4", accelerator_count=1)
    with pytest.raises(ProviderError, match="has no room") as caught:
        provider.create(t4)
    assert caught.value.of_accelerator

    path = f"POST /projects/{PROJECT}/zones/{ZONE}/instances/bulkInsert"
    for metric, is_of_gpus in (("NVIDIA_A100_GPUS", True), ("CPUS", False)):
        cloud.refuse(path, *problem(403, "quotaExceeded", f"Quota '{metric}' exceeded."))
        with pytest.raises(ProviderError, match=metric) as caught:
            provider.create(replace(gang(PLACE, "a2-highgpu-1g"), accelerator="A100"))
        assert caught.value.of_accelerator is is_of_gpus


@dataclass(frozen=True)
class Case:
    status: int
    reason: str
    message: str
    trouble: Trouble
    scope: Scope


CASES = [
    Case(503, "ZONE_RESOURCE_POOL_EXHAUSTED", "no", Trouble.CAPACITY, Scope.ZONE),
    Case(403, "quotaExceeded", "CPUS exceeded", Trouble.QUOTA, Scope.REGION),
    Case(403, "QUOTA_EXCEEDED", "GPUS_ALL_REGIONS", Trouble.QUOTA, Scope.INSTANCE_TYPE),
    Case(403, "rateLimitExceeded", "slower", Trouble.THROTTLED, Scope.NONE),
    Case(403, "forbidden", "no", Trouble.DENIED, Scope.CLOUD),
    Case(401, "authError", "no", Trouble.CREDENTIALS, Scope.CLOUD),
    Case(404, "notFound", "no", Trouble.INVALID, Scope.ZONE),
    Case(500, "somethingNew", "no", Trouble.UNREACHABLE, Scope.NONE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.reason} {case.message}")
def test_a_reason_says_what_not_to_try_again(case: Case) -> None:
    status, answer = problem(case.status, case.reason, case.message)
    error = RefusalError("Google Cloud", status, complaint(status, answer))
    assert (error.trouble, error.scope) == (case.trouble, case.scope)
