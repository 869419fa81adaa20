from pathlib import Path

import pytest

from trainway.backends.pool.site import Site
from trainway.backends.ssh.host_lookup import Lookup
from trainway.backends.ssh.sites import ConfiguredPools
from trainway.errors import NotFoundError, UsageError

LAB = "lab: {hosts: [a1, a2], outputs: keep}"
HALL = "hall: {hosts: [b1]}"


def sites(home: Path, *pools: str) -> ConfiguredPools:
    (home / "config.yaml").write_text(f"pools: {{{', '.join(pools)}}}")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "config").write_text("Host lone lab\n")
    lookup = Lookup(lambda words: (0, f"hostname {words[-1]}.example\nport 22\n", ""), str.upper)
    return ConfiguredPools(home, lookup, home)


def test_a_pool_is_found_by_its_name(tmp_path: Path) -> None:
    found = sites(tmp_path, LAB, HALL)
    assert found.names() == ["lab", "hall"]
    assert found.find("lab") == Site("lab", "lab", outputs="keep")
    assert [host["address"] for host in found.hosts("lab")] == ["A1.EXAMPLE", "A2.EXAMPLE"]


def test_the_only_pool_needs_no_name(tmp_path: Path) -> None:
    assert sites(tmp_path, LAB).find("").name == "lab"


def test_a_host_that_ssh_knows_is_a_pool_of_its_own(tmp_path: Path) -> None:
    found = sites(tmp_path, LAB)
    assert found.find("lone") == Site("lone", "lone")
    assert [host["name"] for host in found.hosts("lone")] == ["lone"]


def test_among_several_one_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are 2 pools") as caught:
        sites(tmp_path, LAB, HALL).find("")
    assert caught.value.hint == "name one: ssh/lab, ssh/hall"


def test_where_there_is_none_it_is_said_how_to_have_one(tmp_path: Path) -> None:
    found = sites(tmp_path)
    with pytest.raises(UsageError, match="no pool of hosts is configured") as caught:
        found.find("")
    assert "pools: {lab: {hosts: [a1, a2]}}" in (caught.value.hint or "")
    with pytest.raises(NotFoundError, match="no pool 'den'") as unknown:
        found.find("den")
    assert unknown.value.hint == "name its hosts there: pools: {den: {hosts: [a1, a2]}}"


def test_an_unknown_name_is_answered_with_what_may_have_been_meant(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no pool 'labs'.*did you mean \"lab\"") as caught:
        sites(tmp_path, LAB, HALL).find("labs")
    assert caught.value.hint == "pools: ssh/lab, ssh/hall"
