"""What is remembered of a request for rented machines, and what is asked of clouds from it."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.api.task.infra import Infra
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.cluster.rented import asked, wish
from trainway.engine.cluster.rented_hosts import forget_hosts, told_hosts, told_notices
from trainway.engine.cluster.request import is_at
from trainway.engine.rental.record import Rental, RentedMachine
from trainway.engine.rental.ssh_key import SshKey, ssh_key
from trainway.json_types import Json
from trainway.providers.base import Notice

KEY = SshKey("public", "/k/id", "/k")


def record(infra: str, resources: Json, nodes: int = 2, found: str = "") -> ClusterRecord:
    shape = {"cpus": "1", "memory": "0", "gpus": 0, "accelerators": ""}
    data = shape | asked(infra, resources, {"retry_until_up": True})
    return ClusterRecord(
        name="dev",
        id="1",
        infra=found or infra,
        pool="cloud+dev",
        nodes=nodes,
        resources=json.dumps(data),
    )


@dataclass(frozen=True)
class Case:
    infra: str
    place: Infra


@pytest.mark.parametrize(
    "case",
    [
        Case("cloud", Infra()),
        Case("aws", Infra("aws")),
        Case("aws/us-east-1", Infra("aws", "us-east-1")),
        Case("aws/*/us-east-1a", Infra("aws", None, "us-east-1a")),
    ],
    ids=lambda case: case.infra,
)
def test_machines_are_wanted_where_was_said(case: Case) -> None:
    wanted, _ = wish(record(case.infra, {"cpus": "4+"}), "key", {})

    assert [each.infra for each in wanted.requests] == [case.place]
    assert [each.nodes for each in wanted.requests] == [2]


def test_all_candidates_of_a_task_may_be_rented() -> None:
    resources = {"any_of": [{"infra": "aws", "use_spot": True}, {"infra": "gcp"}], "cpus": 8}
    wanted, _ = wish(record("cloud", resources), "key", {})

    found = [(str(each.infra), each.spot) for each in wanted.requests]
    assert found == [("aws", True), ("gcp", False)]


def test_terms_are_those_of_the_resources_and_of_the_command() -> None:
    resources = {
        "cpus": 2,
        "ports": [8080, "9000-9010"],
        "disk_size": 256,
        "image_id": "ami-1",
        "labels": {"team": "vision"},
    }
    _, terms = wish(record("aws", resources), "ssh-ed25519 AAA", {})

    assert (terms.ports, terms.disk_gib, terms.image) == (("8080", "9000-9010"), 256, "ami-1")
    assert dict(terms.labels) == {"team": "vision"}
    assert terms.public_key == "ssh-ed25519 AAA"
    assert terms.retry_until_up
    assert not terms.ends_by_shutdown, "nobody said that it may be lost"


def test_disks_and_networks_are_asked_for_and_images_of_containers_are_not() -> None:
    resources = {
        "disk_size": "1TB",
        "disk_tier": "High",
        "network_tier": "best",
        "image_id": "docker:ubuntu:22.04",
    }
    _, terms = wish(record("aws", resources), "key", {})
    assert (terms.disk_gib, terms.disk_tier, terms.fast_network) == (1024, "high", True)
    assert (terms.image, terms.images) == ("", {})
    _, terms = wish(record("aws", {"image_id": {"us-east-1": "ami-1", "docker": "x"}}), "key", {})
    assert (terms.image, terms.images) == ("", {"us-east-1": "ami-1"})


@pytest.mark.parametrize(
    ("infra", "found", "same"),
    [
        ("aws", "aws/us-east-1/us-east-1a", True),
        ("cloud", "aws/us-east-1/us-east-1a", True),
        ("aws/us-east-1", "aws/us-east-1/us-east-1a", True),
        ("aws/*/us-east-1a", "aws/us-east-1/us-east-1a", True),
        ("aws/us-west-2", "aws/us-east-1/us-east-1a", False),
        ("gcp", "aws/us-east-1/us-east-1a", False),
        ("ssh/lab", "ssh/lab", True),
        ("ssh/lab", "ssh/other", False),
    ],
)
def test_a_cluster_on_a_cloud_is_at_every_place_that_it_lies_in(
    infra: str, found: str, same: bool
) -> None:
    assert is_at(record("aws", {}, found=found), infra) is same


def test_machines_are_told_as_hosts_with_a_memory_of_their_own() -> None:
    machines = (
        RentedMachine("i-1", 0, "3.3.3.3", "10.0.0.4", 22, "ubuntu"),
        RentedMachine("i-2", 1, "", "10.0.0.5", 2222, ""),
    )
    rental = Rental(cluster="dev", token="t1", machines=machines)  # noqa: S106 - a name
    first, second = told_hosts(rental, KEY)

    assert (first["name"], first["destination"]) == ("dev-0", "ubuntu@3.3.3.3")
    assert first["address"] == "10.0.0.4", "the other machines reach it there"
    assert (second["destination"], second["port"]) == ("10.0.0.5", 2222)
    assert "UserKnownHostsFile=/k/known_hosts-t1" in first["options"]
    assert first["identity"] == "/k/id"
    assert "unattended" not in first, "they never shut themselves down"
    terms = {"margin": 60.0}
    assert {host["unattended"]["margin"] for host in told_hosts(rental, KEY, terms)} == {60.0}


@pytest.mark.parametrize(
    ("cloud", "spot", "asked"),
    [
        ("aws", True, "i-1"),
        ("azure", True, "trainway-dev-0"),
        ("aws", False, ""),
        ("runpod", True, ""),
    ],
)
def test_spot_machines_are_told_whom_to_ask_whether_they_are_taken(
    cloud: str, spot: bool, asked: str
) -> None:
    name = {"azure": "group/trainway-dev-0"}.get(cloud, "i-1")
    machines = (RentedMachine(name, 0, "3.3.3.3"),)
    rental = Rental(cluster="dev", token="t1", cloud=cloud, spot=spot, machines=machines)  # noqa: S106 - a name
    (host,) = told_hosts(rental, KEY, None, "10.0.0.1:80")
    wanted = {"cloud": cloud, "machine": asked, "address": "10.0.0.1:80"} if asked else None
    assert host.get("notices") == wanted


def test_what_machines_say_of_being_taken_is_a_notice_unless_it_is_only_likely() -> None:
    machines = tuple(RentedMachine(f"i-{rank}", rank) for rank in range(3))
    rental = Rental(cluster="dev", token="t1", machines=machines)  # noqa: S106 - a name
    told: dict[str, Json] = {
        "dev-0": {"at": "2026-11-18T12:02:00Z", "why": "preempted"},
        "dev-1": {"at": "", "why": "an elevated risk", "risk": True},
        "dev-9": {"at": "", "why": "who is that"},
    }
    assert told_notices(rental, told) == [Notice("i-0", "2026-11-18T12:02:00Z", "preempted")]


@pytest.mark.parametrize(("given", "checks"), [(True, "yes"), (False, "accept-new")])
def test_who_answers_first_is_believed_only_where_no_host_key_was_given(
    tmp_path: Path, given: bool, checks: str
) -> None:
    if given:
        (tmp_path / "host_key-t1").touch()
    rental = Rental(cluster="dev", token="t1", machines=(RentedMachine("i-1", 0, "3.3.3.3"),))  # noqa: S106 - a name
    (host,) = told_hosts(rental, SshKey("public", "/k/id", str(tmp_path)))
    assert f"StrictHostKeyChecking={checks}" in host["options"]


def test_who_answered_is_forgotten_with_the_machines(tmp_path: Path) -> None:
    for name in ("known_hosts-t1", "known_hosts-t2", "host_key-t1", "host_key-t2", "id_ed25519"):
        (tmp_path / name).touch()
    kept = Rental(cluster="dev", token="t2")  # noqa: S106 - a name
    forget_hosts(SshKey("public", "/k/id", str(tmp_path)), [kept])

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"known_hosts-t2", "host_key-t2", "id_ed25519"}
    forget_hosts(SshKey("public", "/k/id", str(tmp_path / "none")), [])


def test_the_key_of_a_server_is_made_once_and_is_private(tmp_path: Path) -> None:
    made = ssh_key(tmp_path)

    assert made == ssh_key(tmp_path)
    assert made.public.startswith("ssh-ed25519 ")
    assert Path(made.identity).stat().st_mode & 0o777 == 0o600
    assert Path(made.identity).read_text().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
