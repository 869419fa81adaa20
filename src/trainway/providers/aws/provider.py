"""Amazon EC2 as a provider: the order of calls, each of which may be the last before a kill.

A gang is made by one RunInstances, which gives all machines or none. What is made before it (a
firewall, a placement group) costs nothing, carries our tags, and goes with `release`.
"""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from trainway.providers.aws import answers, job_credentials
from trainway.providers.aws.answers import Subnet
from trainway.providers.aws.calls import AwsCalls
from trainway.providers.aws.instance_types import InstanceType, instance_type, quota_code
from trainway.providers.aws.network import AwsNetwork
from trainway.providers.aws.refusals import GONE, AwsError
from trainway.providers.aws.requests import SETTINGS, Network, ours, run_instances
from trainway.providers.base import (
    COSTS_NOTHING,
    OWNER_TAG,
    TOKEN_TAG,
    Ability,
    GangRequest,
    Identity,
    JobCredentials,
    Machine,
    Notice,
    Place,
)
from trainway.providers.errors import ProviderError, Scope, Trouble, not_ours
from trainway.providers.settings import check

LIVING: Final = ("pending", "running", "stopping", "stopped")


class AwsProvider:
    """Machines of Amazon EC2."""

    cloud = "aws"

    def __init__(self, calls: AwsCalls | None = None) -> None:
        self._calls = calls or AwsCalls()
        self._network = AwsNetwork(self._calls)
        self._types: dict[tuple[str, str], InstanceType] = {}
        self._asking: dict[tuple[str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def missing(self) -> Mapping[Ability, str]:
        """EC2 has all of it."""
        return {}

    def check(self) -> Identity:
        """Ask AWS who we are."""
        answer = self._calls.send("sts", self._calls.home_region, "get_caller_identity")
        return Identity(str(answer["Account"]), str(answer["Arn"]), self._calls.source())

    def regions(self) -> list[str]:
        """Those that are enabled for the account."""
        answer = self._calls.send("ec2", self._calls.home_region, "describe_regions")
        return sorted(each["RegionName"] for each in answer["Regions"])

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:
        """Counted in CPUs by AWS; None where it does not tell, or may not be asked."""
        code = quota_code(instance_type, spot=spot)
        if not code:
            return None
        region = place.region
        try:
            kind = self._type(region, instance_type)
            name = {"ServiceCode": "ec2", "QuotaCode": code}
            answer = self._calls.send("service-quotas", region, "get_service_quota", **name)
            used = self._cpus_in_use(region, code, spot=spot)
        except ProviderError:
            return None
        left = float(answer["Quota"]["Value"]) - used
        return max(0, int(left // kind.cpus)) if kind.cpus else None

    def create(self, request: GangRequest) -> list[Machine]:
        """One zone after the other where none is named."""
        check(self.cloud, request.settings, SETTINGS)
        region = request.place.region
        if found := self.find(region, request.owner, request.token):
            return self._complete(request, found)
        kind = self._type(region, request.instance_type)
        refused: ProviderError | None = None
        for subnet in self._network.subnets(request):
            try:
                return self._run(request, kind, subnet)
            except ProviderError as error:
                if error.scope is not Scope.ZONE:
                    raise
                refused = error
        assert refused is not None  # noqa: S101 - `subnets` gives one at least
        if not request.place.zone:
            refused.scope = Scope.REGION
        raise refused

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """By tags alone, in the order of their ranks."""
        filters = [*ours(owner), {"Name": "instance-state-name", "Values": list(LIVING)}]
        if token:
            filters.append({"Name": f"tag:{TOKEN_TAG}", "Values": [token]})
        found = [answers.machine(region, each) for each in self._instances(region, filters)]
        return sorted(found, key=lambda each: (each.cluster, each.token, each.rank))

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """AWS does not stop spot machines of one time."""
        if machines:
            self._calls.send("ec2", region, "stop_instances", InstanceIds=list(machines))

    def start(self, region: str, machines: Sequence[str]) -> None:
        """They get other public addresses."""
        if machines:
            self._calls.send("ec2", region, "start_instances", InstanceIds=list(machines))

    def end(self, region: str, machines: Sequence[str]) -> None:
        """Only what carries our tag.

        What cannot be seen is ended too: new machines are seen late.
        """
        if not machines:
            return
        filters = [{"Name": "instance-id", "Values": list(machines)}]
        seen = {each["InstanceId"]: each for each in self._instances(region, filters)}
        foreign = [name for name, each in seen.items() if OWNER_TAG not in answers.marks(each)]
        ended = {name for name, each in seen.items() if _is_ended(each)}
        self._terminate(region, [name for name in seen if name not in ended.union(foreign)])
        for name in machines:
            if name not in seen:
                self._terminate(region, [name])
        if foreign:
            raise not_ours("AWS", foreign)

    def ends(self, region: str, machines: Sequence[str]) -> Mapping[str, str]:
        """EC2 remembers ended machines for about an hour."""
        filters = [{"Name": "instance-id", "Values": list(machines)}]
        found = self._instances(region, filters) if machines else []
        return {each["InstanceId"]: at for each in found if (at := answers.ended(each))}

    def ended_by_others(self, region: str, machines: Sequence[str]) -> Mapping[str, str]:
        """As `ends`; what AWS does itself has a reason of the server."""
        filters = [{"Name": "instance-id", "Values": list(machines)}]
        found = self._instances(region, filters) if machines else []
        return {each["InstanceId"]: why for each in found if (why := answers.ended_by_other(each))}

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Its firewall and its placement group."""
        self._network.release(region, owner, cluster)

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:
        """AWS tells spot machines two minutes before."""
        if not machines:
            return []
        found = self._calls.pages(
            region,
            "describe_spot_instance_requests",
            "SpotInstanceRequests",
            Filters=[{"Name": "instance-id", "Values": list(machines)}],
        )
        return answers.notices(found, datetime.now(UTC))

    def job_credentials(self, settings: Mapping[str, str], cluster: str) -> JobCredentials | None:
        """A token of STS, for an hour."""
        wanted = settings.get(job_credentials.SETTING, "")
        if not wanted:
            return None
        operation, asked = job_credentials.request(wanted, cluster)
        answer = self._calls.send("sts", self._calls.home_region, operation, **asked)
        return job_credentials.credentials(answer)

    def _run(self, request: GangRequest, kind: InstanceType, subnet: Subnet) -> list[Machine]:
        network = Network(
            subnet.id,
            self._network.security_group(request, subnet.vpc),
            self._network.placement_group(request, kind),
        )
        built = run_instances(request, kind, network)
        answer = self._calls.send("ec2", request.place.region, "run_instances", **built)
        made = [answers.machine(request.place.region, each) for each in answer["Instances"]]
        return self._complete(request, made)

    def _complete(self, request: GangRequest, found: list[Machine]) -> list[Machine]:
        """All of a gang; if some are gone already the others are ended."""
        living = [each for each in found if each.state not in COSTS_NOTHING]
        if len(living) == request.count:
            return sorted(living, key=lambda each: each.rank)
        self._terminate(request.place.region, [each.id for each in living])
        why = next((each.why for each in found if each.why), "they were taken back")
        raise ProviderError(
            f"AWS: only {len(living)} of {request.count} machines are left: {why}",
            trouble=Trouble.CAPACITY,
            scope=Scope.ZONE,
            spot_only=request.spot,
        )

    def _terminate(self, region: str, machines: Sequence[str]) -> None:
        if not machines:
            return
        try:
            self._calls.send("ec2", region, "terminate_instances", InstanceIds=list(machines))
        except AwsError as error:
            if error.aws_code != GONE:
                raise
            if len(machines) > 1:  # one of them is gone, and AWS has ended none
                for each in machines:
                    self._terminate(region, [each])

    def _instances(self, region: str, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = self._calls.pages(region, "describe_instances", "Reservations", Filters=filters)
        return answers.instances(found)

    def _type(self, region: str, name: str) -> InstanceType:
        """Asked for once, however many are launched at the same time: the answer is long."""
        with self._lock:
            asking = self._asking.setdefault((region, name), threading.Lock())
        with asking:
            known = self._types.get((region, name))
            if known is None:
                answer = self._calls.send(
                    "ec2", region, "describe_instance_types", InstanceTypes=[name]
                )
                known = self._types[region, name] = instance_type(answer["InstanceTypes"][0])
        return known

    def _cpus_in_use(self, region: str, code: str, *, spot: bool) -> int:
        filters = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        used = 0
        for each in self._instances(region, filters):
            is_spot = each.get("InstanceLifecycle") == "spot"
            if is_spot == spot and quota_code(each["InstanceType"], spot=spot) == code:
                cpu = each.get("CpuOptions", {})
                used += int(cpu.get("CoreCount", 0)) * int(cpu.get("ThreadsPerCore", 1))
        return used


def _is_ended(answer: Mapping[str, Any]) -> bool:
    return answers.STATES.get(answer["State"]["Name"]) in COSTS_NOTHING
