"""`benchmarks/clouds.py kills-moto`: servers that rent of moto's AWS are killed at any request.

The provider is the real one, and moto is a process of its own. The steps at which a server may be
killed, before or after, are its writes and every single request to AWS. Requests are refused,
throttled, or done and not answered, at random. What is left in the end is not asked of the
provider, which might overlook it, but counted in moto: all machines of all regions, their disks,
firewalls, placement groups, keys and addresses.
"""

import os
import random
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from moto_cloud import REGION, MotoCloud, moto_process
from sqlalchemy import Engine

from benchmarks.clouds_load import disorder, killed_servers
from benchmarks.suite import Row
from trainway.api.task import resources as task_resources
from trainway.engine.database import open_database
from trainway.engine.rental.kills_testing import KilledLife
from trainway.engine.rental.testing import CLUSTER, OWNER, RentalWorld, Steps
from trainway.engine.testing import memory_database
from trainway.optimizer.request import TaskRequest, request
from trainway.optimizer.testing import catalog_of, row
from trainway.providers.aws.calls import AwsCalls
from trainway.providers.aws.provider import AwsProvider
from trainway.providers.aws.requests import group_name
from trainway.providers.backoff import repeated
from trainway.providers.base import Provider

MOST_STEPS: Final = 44
"""About as many as the life of a cluster has."""
TYPE: Final = "c5n.18xlarge"
"""Its network is so fast that a gang has a placement group."""
ZONES: Final = {f"{REGION}a": 3.888, f"{REGION}b": 3.889}
REGIONS: Final = (REGION, "us-west-2")
SERVICES: Final = ("ec2", "sts", "service-quotas")
FULL: Final = ("InsufficientInstanceCapacity", 500, False)
THROTTLED: Final = ("RequestLimitExceeded", 503, False)
UNANSWERED: Final = ("InternalError", 500, True)
TROUBLES: Final = (
    ("RunInstances", (FULL, THROTTLED, UNANSWERED)),
    ("DescribeInstances", (THROTTLED, UNANSWERED)),
    ("CreateSecurityGroup", (THROTTLED, UNANSWERED)),
    ("CreatePlacementGroup", (THROTTLED, UNANSWERED)),
    ("StopInstances", (THROTTLED, UNANSWERED)),
    ("StartInstances", (FULL, UNANSWERED)),
    ("TerminateInstances", (THROTTLED, UNANSWERED)),
    ("DeleteSecurityGroup", (THROTTLED, UNANSWERED)),
)
"""Requests, and what may go wrong with each: code, status, and whether it is done all the same."""


class CountedCalls(AwsCalls):
    """Requests to AWS, each of which is a step; no time passes before one is repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = Steps()

    def prepare(self) -> None:
        """Make the clients, which takes a second, before there are processes that need them."""
        for service in SERVICES:
            for region in REGIONS:
                self._client(service, region)

    def send(self, service: str, region: str, operation: str, **request: Any) -> dict[str, Any]:
        """Do one thing."""
        once = partial(self._send_once, service, region, operation, request)
        return repeated(once, lambda _: None)

    def _send_once(
        self, service: str, region: str, operation: str, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        sent = partial(super()._send_once, service, region, operation, request)
        answer: dict[str, Any] = self.steps.call(operation, sent)
        return answer


class NearProvider(AwsProvider):
    """AWS as it is for an account that has enabled two regions.

    To look at one that was never used takes moto 0.2 s, and it has 37. What is left over is counted
    in all of them.
    """

    def regions(self) -> list[str]:
        """Those in which a sweep looks."""
        return list(REGIONS)


class MotoWorld(RentalWorld):
    """A catalog and a database, which outlive servers, and moto's AWS."""

    def __init__(
        self, folder: Path, cloud: MotoCloud, calls: CountedCalls, database: Engine | None = None
    ) -> None:
        super().__init__(folder, database or memory_database())
        self._cloud = cloud
        self._calls = calls
        lines = [row(TYPE, price, region=REGION, zone=zone) for zone, price in ZONES.items()]
        catalog_of(folder, {"aws": lines}).close()

    def wanted(self, nodes: int) -> TaskRequest:
        """The only type that there is."""
        candidate = task_resources.read({"infra": "aws", "cpus": "2+"}).first
        return TaskRequest("t", (request(candidate, nodes),))

    def providers(self, steps: Steps) -> dict[str, Provider]:
        """AWS alone."""
        self._calls.steps = steps
        return {"aws": NearProvider(self._calls)}

    def mend(self) -> None:
        """Let nothing go wrong any more."""
        self._cloud.mend()

    def living(self) -> set[str]:
        """All machines that cost something, whoever made them."""
        return {each["id"] for each in self._cloud.living()}

    def rules(self) -> list[str]:
        """The firewall and the placement group of the cluster as one, and all that is left over."""
        ours = group_name(OWNER, CLUSTER)
        found = self._cloud.groups()
        kept = [f"{OWNER}/{CLUSTER}"] if sorted(found) == [ours, ours] else found
        return [*kept, *self._cloud.leftovers()]


def kills(wanted: int) -> Iterator[Row]:
    """As many kills as are wanted."""
    with moto_process() as cloud:
        os.environ.update(cloud.variables())
        calls = CountedCalls()
        calls.prepare()
        life = partial(killed_life, cloud, calls)
        yield from disorder("moto: leaked, lost or in disorder after a sweep", wanted, life)


def killed_life(
    cloud: MotoCloud, calls: CountedCalls, folder: Path, seed: int
) -> tuple[int, list[str]]:
    """One cluster and its servers: how many of them were killed, and what was wrong in the end."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    make_trouble(cloud, chance)

    def life() -> KilledLife:
        database = open_database(f"sqlite:///{folder / 'trainway.db'}")
        return KilledLife(folder, MotoWorld(folder, cloud, calls, database))

    return killed_servers(folder, chance, life, MOST_STEPS, f"seed {seed}")


def make_trouble(cloud: MotoCloud, chance: random.Random) -> None:
    """Begin with an empty cloud, in which a few things go wrong."""
    cloud.reset()
    for action, ways in chance.sample(TROUBLES, k=chance.randrange(4)):
        code, status, after = chance.choice(ways)
        times, skip = chance.randrange(1, 3), chance.randrange(2)
        cloud.fail(action, code, status=status, after=after, times=times, skip=skip)
