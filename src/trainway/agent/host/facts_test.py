import os
from pathlib import Path

import pytest

from trainway.agent.host.facts import base_environment, memory
from trainway.agent.host.interfaces import defaults, interfaces, network

PAGES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("text", "found"), [("max\n", PAGES), ("1048576\n", 1048576), (str(2**63), PAGES)]
)
def test_memory_is_what_the_machine_and_its_limits_leave(
    tmp_path: Path, text: str, found: int
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(text)
    assert memory((str(limit), str(tmp_path / "missing"))) == found


def test_pods_start_from_the_users_environment_without_that_of_a_session() -> None:
    environ = {
        "PATH": "/usr/bin",
        "HOME": "/home/a",
        "CONDA_PREFIX": "/opt/conda",
        "SSH_CONNECTION": "1 2 3 4",
        "TRAINWAY_JOB_ID": "outer",
        "PWD": "/somewhere",
    }
    assert base_environment(environ, "/h/bin") == {
        "PATH": "/h/bin:/usr/bin",
        "HOME": "/home/a",
        "CONDA_PREFIX": "/opt/conda",
    }


def test_the_loopback_interface_has_its_addresses() -> None:
    assert interfaces()["127.0.0.1"] == "lo"


def test_version_6_addresses_are_read_from_the_kernels_list(tmp_path: Path) -> None:
    listed = tmp_path / "if_inet6"
    listed.write_text("fd000000000000000000000000000002 02 40 00 80     eth7\n")
    assert interfaces(str(listed))["fd00::2"] == "eth7"


def test_a_gang_on_several_hosts_is_told_which_interface_to_use() -> None:
    assert defaults("127.0.0.1", {"127.0.0.1"}) == {}
    assert defaults("192.0.2.254", {"192.0.2.254", "192.0.2.253"}) == {}
    told = defaults("127.0.0.1", {"127.0.0.1", "10.0.0.9"})
    assert told["GLOO_SOCKET_IFNAME"] == told["NCCL_SOCKET_IFNAME"] == "lo"
    assert told["OMPI_MCA_btl_tcp_if_include"] == "lo"
    assert defaults("127.0.0.1", {"127.0.0.1", "127.0.0.2"}) == {
        "GLOO_SOCKET_IFNAME": "lo",
        "NCCL_SOCKET_IFNAME": "lo",
        "OMPI_MCA_btl_tcp_if_include": "127.0.0.0/30",
        "OMPI_MCA_oob_tcp_if_include": "127.0.0.0/30",
        "PRTE_MCA_prte_if_include": "127.0.0.0/30",
    }


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        ({"10.1.0.11", "10.1.0.12", "10.1.0.14"}, "10.1.0.8/29"),
        ({"10.1.0.1"}, "10.1.0.1/32"),
        ({"10.1.0.1", "10.1.255.1"}, "10.1.0.0/16"),
        ({"10.1.0.1", "10.2.0.1"}, ""),
        ({"10.1.0.1", "192.168.0.1"}, ""),
        ({"10.1.0.1", "fd00::2"}, ""),
        ({"10.1.0.1", ""}, ""),
    ],
)
def test_the_network_of_several_hosts(addresses: set[str], expected: str) -> None:
    assert network(addresses) == expected
