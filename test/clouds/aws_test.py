"""AWS, against moto: zones, errors, notices, networks, and kills between any two calls."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto_cloud import REGION, MotoCloud

from trainway.engine.rental.blocking import block
from trainway.engine.rental.record import Attempt
from trainway.errors import TrainwayError
from trainway.optimizer.request import Block
from trainway.providers.aws.calls import AwsCalls
from trainway.providers.aws.provider import AwsProvider
from trainway.providers.aws.refusals import AwsError
from trainway.providers.base import GangRequest, Place
from trainway.providers.contract_testing import OWNER, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble

ANYWHERE = Place(REGION)
ZONE = Place(REGION, f"{REGION}a")
FULL = "InsufficientInstanceCapacity"


class Killed(BaseException):
    """The process ends here."""


class KilledCalls(AwsCalls):
    """Ends after one of its calls; has the clients of another."""

    def __init__(self, others: AwsCalls, at: int) -> None:
        super().__init__()
        self._others = others
        self._left = at

    def send(self, service: str, region: str, operation: str, **request: Any) -> dict[str, Any]:
        self._left -= 1
        answer = self._others.send(service, region, operation, **request)
        if self._left == 0:
            raise Killed
        return answer


def small(place: Place = ZONE, count: int = 2) -> GangRequest:
    return gang(place, "m5.large", count)


def test_a_zone_that_is_full_is_followed_by_the_next(
    aws: AwsProvider, moto_cloud: MotoCloud
) -> None:
    moto_cloud.fail("RunInstances", FULL, zone=f"{REGION}a")
    made = aws.create(small(ANYWHERE))
    assert {each.place.zone for each in made} == {f"{REGION}b"}


def test_a_region_that_is_full_is_left(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    moto_cloud.fail("RunInstances", FULL, times=20, status=500)
    with pytest.raises(ProviderError) as caught:
        aws.create(small(ANYWHERE))
    assert (caught.value.trouble, caught.value.scope) == (Trouble.CAPACITY, Scope.REGION)
    assert moto_cloud.calls().count("RunInstances") == zones_of_region()

    with pytest.raises(ProviderError) as caught:
        aws.create(small(ZONE))
    assert caught.value.scope is Scope.ZONE
    assert moto_cloud.living() == []


def test_a_quota_is_not_tried_in_other_zones(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    moto_cloud.fail("RunInstances", "VcpuLimitExceeded")
    with pytest.raises(ProviderError) as caught:
        aws.create(small(ANYWHERE))
    assert (caught.value.trouble, caught.value.scope) == (Trouble.QUOTA, Scope.REGION)
    assert moto_cloud.calls().count("RunInstances") == 1


def test_a_throttled_request_is_repeated(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    moto_cloud.fail("RunInstances", "RequestLimitExceeded", status=503)
    assert len(aws.create(small())) == 2
    assert moto_cloud.calls().count("RunInstances") == 2


def test_a_lost_answer_makes_nothing_twice(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    moto_cloud.fail("RunInstances", "InternalError", status=500, after=True)
    assert len(aws.create(small())) == 2
    assert moto_cloud.calls().count("RunInstances") == 2
    assert len(moto_cloud.living()) == 2


def test_a_gang_of_which_some_are_gone_is_ended(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    request = small(count=3)
    made = aws.create(request)
    moto_cloud.take(made[1].id)
    with pytest.raises(ProviderError, match="only 2 of 3 machines are left"):
        aws.create(request)
    assert moto_cloud.living() == []


def test_spot_machines_are_told_and_taken(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    request = replace(small(), spot=True)
    first, second = ids(aws.create(request))
    moto_cloud.warn(first)
    (notice,) = aws.notices(REGION, [first, second])
    assert notice.machine == first
    assert "marked-for-termination" in notice.why

    moto_cloud.take(first)
    assert ids(aws.find(REGION, OWNER)) == [second]
    assert aws.notices(REGION, [second]) == []
    assert aws.ended_by_others(REGION, [first, second]) == {}
    aws.end(REGION, [second])
    assert list(aws.ended_by_others(REGION, [first, second])) == [second]


def test_a_shutdown_ends_or_stops_as_was_wanted(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    (ends,) = aws.create(small(count=1))
    (stops,) = aws.create(replace(small(count=1), ends_by_shutdown=False))
    assert moto_cloud.shut_down(ends.id) == "terminated"
    assert moto_cloud.shut_down(stops.id) == "stopped"
    assert ids(aws.find(REGION, OWNER)) == [stops.id]


def test_what_is_not_ours_is_never_ended(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    client = boto3.client("ec2", region_name=REGION)
    made = client.run_instances(MinCount=1, MaxCount=1, ImageId="ami-1", InstanceType="m5.large")
    foreign = made["Instances"][0]["InstanceId"]
    (mine,) = aws.create(small(count=1))

    with pytest.raises(ProviderError, match=f"{foreign}: not ended"):
        aws.end(REGION, [foreign, mine.id, "i-0123456789abcdef0"])
    assert [each["id"] for each in moto_cloud.living()] == [foreign]


def test_everything_that_is_made_carries_our_tag(aws: AwsProvider) -> None:
    aws.create(gang(ZONE, "c5n.18xlarge"))
    client = boto3.client("ec2", region_name=REGION)
    ours = [{"Name": "tag:trainway-server", "Values": [OWNER]}]
    (group,) = client.describe_security_groups(Filters=ours)["SecurityGroups"]
    assert len(group["IpPermissions"]) == 2
    assert len(client.describe_volumes(Filters=ours)["Volumes"]) == 2
    assert len(client.describe_placement_groups(Filters=ours)["PlacementGroups"]) == 1


def test_a_setting_that_there_is_not_is_named(aws: AwsProvider) -> None:
    with pytest.raises(ProviderError, match=r"clouds\.aws\.subnets: there is no such") as caught:
        aws.create(replace(small(), settings={"subnets": "subnet-1"}))
    assert "subnet," in (caught.value.hint or "")


def test_a_given_network_is_taken_as_it_is(aws: AwsProvider, moto_cloud: MotoCloud) -> None:
    client = boto3.client("ec2", region_name=REGION)
    vpc = client.create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]
    made = client.create_subnet(VpcId=vpc, CidrBlock="10.3.0.0/24", AvailabilityZone=f"{REGION}c")
    subnet = made["Subnet"]["SubnetId"]
    (machine,) = aws.create(replace(small(ANYWHERE, 1), settings={"subnet": subnet}))
    assert machine.place.zone == f"{REGION}c"
    (again,) = aws.create(replace(small(ANYWHERE, 1), settings={"vpc": vpc}))
    assert again.place.zone == f"{REGION}c"
    with pytest.raises(TrainwayError, match="no subnet in us-east-1a") as caught:
        aws.create(replace(small(ZONE, 1), settings={"vpc": vpc}))
    assert "clouds.aws.subnet" in (caught.value.hint or "")
    tried = Attempt("aws", REGION, f"{REGION}a", "m5.large", spot=False, hourly_price="1")
    assert isinstance(caught.value, ProviderError)
    assert block(tried, caught.value) == Block("aws", REGION, f"{REGION}a"), "whichever type"


def test_the_zones_of_skypilots_catalog_are_ids(aws: AwsProvider) -> None:
    client = boto3.client("ec2", region_name=REGION)
    zone = client.describe_availability_zones()["AvailabilityZones"][1]
    (machine,) = aws.create(small(Place(REGION, zone["ZoneId"]), 1))
    assert machine.place.zone == zone["ZoneName"]


def zones_of_region() -> int:
    client = boto3.client("ec2", region_name=REGION)
    return len(client.describe_availability_zones()["AvailabilityZones"])


def remove_default_network() -> None:
    client = boto3.client("ec2", region_name=REGION)
    for subnet in client.describe_subnets()["Subnets"]:
        client.delete_subnet(SubnetId=subnet["SubnetId"])
    for vpc in client.describe_vpcs()["Vpcs"]:
        client.delete_vpc(VpcId=vpc["VpcId"])


def killed_at(aws: AwsProvider, request: GangRequest, at: int) -> bool:
    """Whether `create` was killed after that call; otherwise it has fewer."""
    killed = AwsProvider(KilledCalls(aws._calls, at))
    try:
        killed.create(request)
    except Killed:
        return True
    return False


def test_a_create_that_is_killed_after_any_call_leaks_nothing(
    aws: AwsProvider, moto_cloud: MotoCloud
) -> None:
    at = 1
    while True:
        swept, repeated = gang(ZONE, "c5n.18xlarge"), gang(ZONE, "c5n.18xlarge")
        is_killed = killed_at(aws, swept, at)
        aws.end(REGION, ids(aws.find(REGION, OWNER)))
        aws.release(REGION, OWNER, swept.cluster)
        assert (at, moto_cloud.living(), moto_cloud.groups()) == (at, [], [])

        assert killed_at(aws, repeated, at) == is_killed
        assert len(aws.create(repeated)) == 2
        assert (at, len(moto_cloud.living())) == (at, 2)
        aws.end(REGION, ids(aws.find(REGION, OWNER)))
        aws.release(REGION, OWNER, repeated.cluster)
        if not is_killed:
            break
        at += 1
    assert at > 6


def test_a_network_is_made_where_there_is_none_and_only_once(
    aws: AwsProvider, moto_cloud: MotoCloud
) -> None:
    remove_default_network()
    request = small()
    at = 1
    while killed_at(aws, request, at) and not moto_cloud.living():
        at += 1
    assert at > 10
    assert len(aws.create(request)) == 2
    assert len(aws.create(small(Place(REGION, f"{REGION}b")))) == 2

    client = boto3.client("ec2", region_name=REGION)
    ours = [{"Name": "tag:trainway-server", "Values": [OWNER]}]
    (vpc,) = client.describe_vpcs(Filters=ours)["Vpcs"]
    (gateway,) = client.describe_internet_gateways(Filters=ours)["InternetGateways"]
    assert [each["VpcId"] for each in gateway["Attachments"]] == [vpc["VpcId"]]
    subnets = client.describe_subnets(Filters=ours)["Subnets"]
    zones = [each["AvailabilityZone"] for each in subnets]
    assert len(zones) == len(set(zones)) >= 3
    assert all(each["MapPublicIpOnLaunch"] for each in subnets)


def test_bad_credentials_are_told_and_read_anew(
    aws: AwsProvider, moto_cloud: MotoCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = AwsProvider()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ProviderError) as caught:
        fresh.check()
    assert (caught.value.trouble, caught.value.scope) == (Trouble.CREDENTIALS, Scope.CLOUD)
    assert "AWS_PROFILE" in (caught.value.hint or "")

    for name, value in moto_cloud.variables().items():
        monkeypatch.setenv(name, value)
    assert fresh.check().source == "env"


class ToldCalls(AwsCalls):
    """Says what a test has told it."""

    def __init__(self, answers: dict[str, dict[str, Any]]) -> None:
        super().__init__()
        self._answers = answers

    def send(self, service: str, region: str, operation: str, **_: Any) -> dict[str, Any]:
        if operation not in self._answers:
            raise AwsError("AccessDeniedException", f"{service} {operation} in {region}")
        return self._answers[operation]


def test_a_quota_counts_cpus_and_what_cannot_be_asked_is_none() -> None:
    running = {"InstanceType": "c5.large", "CpuOptions": {"CoreCount": 4, "ThreadsPerCore": 2}}
    spot = {**running, "InstanceLifecycle": "spot"}
    other = {**running, "InstanceType": "p5.48xlarge"}
    kind = {"InstanceType": "m5.xlarge", "VCpuInfo": {"DefaultVCpus": 4}}
    answers: dict[str, dict[str, Any]] = {
        "describe_instance_types": {"InstanceTypes": [kind]},
        "describe_instances": {"Reservations": [{"Instances": [running, spot, other]}]},
    }
    denied = AwsProvider(ToldCalls(answers))
    assert denied.quota(ZONE, "m5.xlarge", spot=False) is None
    assert denied.quota(ZONE, "mac2.metal", spot=False) is None

    told = AwsProvider(ToldCalls(answers | {"get_service_quota": {"Quota": {"Value": 30.0}}}))
    assert told.quota(ZONE, "m5.xlarge", spot=False) == 5


def test_a_type_is_asked_for_once_by_all_who_launch_it_at_the_same_time() -> None:
    asked: list[str] = []
    kind = {"InstanceType": "m5.xlarge", "VCpuInfo": {"DefaultVCpus": 4}}

    class SlowCalls(ToldCalls):
        def send(self, service: str, region: str, operation: str, **request: Any) -> dict[str, Any]:
            asked.append(operation)
            start.wait()
            return super().send(service, region, operation, **request)

    start = threading.Event()
    provider = AwsProvider(SlowCalls({"describe_instance_types": {"InstanceTypes": [kind]}}))
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(provider._type, REGION, "m5.xlarge") for _ in range(8)]
        start.set()
        assert {each.result().cpus for each in found} == {4}
    assert asked == ["describe_instance_types"]
