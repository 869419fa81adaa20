"""Places that are lost, with real hosts: the job goes on at the next place, once."""

import re

import pytest
from gate import Gate
from host_gate import process_of
from patience import until
from ssh_pool import ON, SshPool

pytestmark = pytest.mark.xdist_group("ssh")


def test_a_job_whose_host_is_cut_off_goes_on_at_the_next_place(
    ssh_pool: SshPool, gate: Gate
) -> None:
    places = ("--on", f"{ON},local", "--recovery-strategy", "eager-next")
    job = ssh_pool.submit(*places, "--name", "lost", "--", *gate.command("node"))
    first = process_of(gate.next())
    (lost,) = ssh_pool.hosts_of(job).values()
    ssh_pool.hosts.cut(lost)
    try:
        until(lambda: not first.is_alive or not gate.nobody_waits(), "the stale attempt goes on")
        assert not first.is_alive, "the next attempt began before the stale one had stopped"
        # The pool may start it on another host before it is told to let go of it.
        until(lambda: ssh_pool.look(job)["spec"]["backend"] == "local", "it stays there")
        until(lambda: ssh_pool.look(job)["status"]["phase"] == "Running", "it does not run")
    finally:
        ssh_pool.hosts.heal(lost)
    second = gate.next()
    while "TRAINWAY_FENCING_TOKEN" in second.env:  # of a host that has begun it meanwhile
        second = gate.next()
    second.let_go()
    ssh_pool.run("jobs", "wait", job)

    status = ssh_pool.job(job)["status"]
    assert status["phase"] == "Succeeded"
    (ended,) = status["endedAttempts"]
    assert (ended["place"], ended["reason"]) == (ON, "NodeLost")
    events = ssh_pool.run("jobs", "events", job)
    assert re.search(rf"it goes to local because {ON} was lost", events)
    assert len(re.findall(r"\bMoved\b", events)) == 1


def test_failover_leaves_a_place_that_has_no_room_for_the_job_any_more(
    ssh_pool: SshPool, gate: Gate
) -> None:
    places = ("--on", f"{ON},local", "--recovery-strategy", "failover", "--max-wait", "30s")
    job = ssh_pool.submit(*places, "--name", "gone", "--", *gate.command("node"))
    first = process_of(gate.next())
    (lost,) = ssh_pool.hosts_of(job).values()
    for host in ssh_pool.hosts.hosts:
        if host.name != lost.name:
            ssh_pool.run("nodes", "drain", host.name, "--on", ON)
    ssh_pool.hosts.cut(lost)
    try:
        second = gate.next()
        assert not first.is_alive, "the next attempt began before the stale one had stopped"
        assert ssh_pool.look(job)["spec"]["backend"] == "local"
        second.let_go()
        ssh_pool.run("jobs", "wait", job)
    finally:
        ssh_pool.hosts.heal(lost)
    status = ssh_pool.job(job)["status"]
    assert [each["place"] for each in status["endedAttempts"]] == [ON]
    assert "it has not run there since" in ssh_pool.run("jobs", "events", job)
