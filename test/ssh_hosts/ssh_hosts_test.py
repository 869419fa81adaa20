"""The hosts by themselves: real logins, real partitions, nothing left behind."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import unavailable
from host_processes import namespace_of
from installation import all_pids, is_alive
from patience import until
from switch import UnavailableError

from ssh_hosts import Host, SshHosts, banner

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    try:
        hosts = SshHosts(2)
    except UnavailableError as error:
        unavailable(str(error))
    with hosts:
        yield hosts


def test_each_host_has_a_name_and_a_home_of_its_own(hosts: SshHosts) -> None:
    said = [hosts.ssh(host, "hostname; pwd; echo $HOME").split() for host in hosts.hosts]
    assert said == [[host.name, str(host.home), str(host.home)] for host in hosts.hosts]


def test_a_host_sees_its_own_processes_only(hosts: SshHosts) -> None:
    first, second = hosts.hosts
    with running(hosts, first, "sleep 1000"):
        until(lambda: "sleep 1000" in commands(first), "it does not run")
        assert "sleep 1000" in first.run("ps", "ax")
        assert "sleep 1000" not in second.run("ps", "ax")
        assert "sleep 1000" not in commands(second)
        next(each for each in first.processes() if each.words[0] == "sleep").kill()
    assert "sleep 1000" not in commands(first)


def test_a_cable_that_is_pulled_cuts_a_host_off_from_all_others(hosts: SshHosts) -> None:
    first, second = hosts.hosts
    assert banner(second.address).startswith("SSH-2.0")
    assert greets(first, second)

    hosts.cut(second)
    try:
        assert banner(second.address, timeout_s=0.5) == ""
        assert not greets(first, second, within_s=1)
        assert banner(first.address).startswith("SSH-2.0")
    finally:
        hosts.heal(second)

    until(lambda: banner(second.address, timeout_s=5) != "", "it is still cut off")
    until(lambda: greets(first, second, within_s=5), "the hosts do not meet")


def test_this_machine_is_cut_off_while_the_hosts_still_meet(hosts: SshHosts) -> None:
    first, second = hosts.hosts
    hosts.cut_this_machine()
    try:
        assert banner(first.address, timeout_s=0.5) == ""
        assert greets(first, second)
    finally:
        hosts.heal_this_machine()
    until(lambda: banner(first.address, timeout_s=5) != "", "it is still cut off")


def test_another_host_key_is_refused(hosts: SshHosts) -> None:
    host = hosts[0]
    host.renew_key()
    host.restart_sshd()
    with pytest.raises(AssertionError, match="Host key verification failed"):
        hosts.ssh(host, "true")
    hosts.trust_keys()
    assert hosts.ssh(host, "hostname").strip() == host.name


def test_a_host_that_was_off_has_its_files_and_none_of_its_processes(hosts: SshHosts) -> None:
    host = hosts[1]
    hosts.ssh(host, "echo kept > file; setsid sleep 1000 > /dev/null 2>&1 < /dev/null &")
    until(lambda: "sleep 1000" in commands(host), "it does not run")

    host.halt()
    assert banner(host.address, timeout_s=0.5) == ""
    host.boot()

    assert hosts.ssh(host, "cat file").strip() == "kept"
    assert commands(host) == []


def test_nothing_is_left_of_hosts_that_end() -> None:
    try:
        hosts = SshHosts(1)
    except UnavailableError as error:
        unavailable(str(error))
    interfaces = Path("/sys/class/net")
    with hosts:
        hosts.ssh(hosts[0], "setsid sleep 1000 > /dev/null 2>&1 < /dev/null &")
        until(lambda: commands(hosts[0]) == ["sleep 1000"], "it does not run")
        (sleeping,) = hosts[0].processes()
        namespace = namespace_of(sleeping.pid)
        assert (interfaces / hosts.interface).exists()
    assert not sleeping.is_alive
    assert not (interfaces / hosts.interface).exists()
    assert not hosts.folder.exists()
    beside = [pid for pid in all_pids() if namespace_of(pid) == namespace]
    assert [pid for pid in beside if is_alive(pid)] == []


def running(hosts: SshHosts, host: Host, command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["ssh", "-F", str(hosts.config), host.name, command])


def commands(host: Host) -> list[str]:
    return [" ".join(each.words) for each in host.processes()]


def greets(host: Host, other: Host, within_s: int = 60) -> bool:
    """Whether one host reaches the sshd of another."""
    look = f"timeout {within_s} bash -c 'head -1 < /dev/tcp/{other.address}/22' || true"
    return host.run("sh", "-c", look).startswith("SSH-2.0")
