"""Jobs on a host, with real processes: the daemon is driven through `connect`."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.testing import HERE, PATIENCE, Client, HostJob, TestHost, host_agent

FOREVER = "echo up; exec sleep 1000"


@pytest.fixture
def host() -> Iterator[TestHost]:
    with host_agent() as host:
        yield host


@pytest.fixture
def client(host: TestHost) -> Client:
    return host.connected()


def one(script: str, **plan: Any) -> HostJob:
    return HostJob(jobset(role("node", container("main", script))), **plan)


def two(script: str, **plan: Any) -> HostJob:
    node = role("node", container("main", script), parallelism=2, completions=2)
    return HostJob(jobset(node, network={"subdomain": "sub"}), **plan)


def up(client: Client, job: HostJob) -> None:
    client.event("log", id=job.id)


def test_a_pod_runs_and_ends_with_its_log_before_its_last_record(client: Client) -> None:
    job = one("echo out; echo err >&2; exit 3")
    assert job.submit(client)["ok"]
    uid = job.start(client)
    end = client.pod("Failed", uid=uid)
    assert end["containers"][0]["exitCode"] == 3
    assert end["token"] == 1
    lines = client.log("node-0-0.main.0.log").splitlines()
    assert sorted(line.split(b" ", 1)[1] for line in lines) == [b"e err", b"o out"]
    seqs = [frame["seq"] for frame in client.frames if frame["event"] == "record"]
    assert seqs == list(range(len(seqs)))
    assert job.processes() == []


def test_facts_tell_what_the_host_has(host: TestHost) -> None:
    facts = host.client().hello()
    assert facts["cpus"] == len(os.sched_getaffinity(0))
    assert facts["memory"] > 1 << 20
    assert facts["protocol"] == 1
    assert facts["home"] == str(host.home)
    assert facts["jobs"] == {}


@pytest.mark.parametrize("how", ["delete", "kill"])
def test_a_stopped_pod_leaves_nothing(client: Client, how: str) -> None:
    job = one("setsid sh -c 'sleep 1000 & sleep 1000' & trap '' TERM; echo up; sleep 1000; sleep 1")
    job.submit(client)
    uid = job.start(client)
    up(client, job)
    client.send("stop", id=job.id, uid=uid, how=how)
    end = client.pod("Failed", uid=uid)
    assert end["deleted"]
    assert job.processes() == []


def test_a_pod_that_never_came_cannot_be_stopped(client: Client) -> None:
    job = one("true")
    job.submit(client)
    client.send("stop", id=job.id, uid="gone", how="delete")
    said = client.event("error", op="stop", uid="gone")
    assert said["message"] == "the pod has never been here"


def test_a_start_for_the_second_time_does_nothing(client: Client) -> None:
    job = one("echo once")
    job.submit(client)
    uid = job.start(client)
    client.pod("Succeeded", uid=uid)
    pod = {"role": "node", "job_index": 0, "slot": 0, "uid": uid}
    client.send("start", id=job.id, token=1, pod=pod, addresses={})
    job.submit(client)
    assert client.log("node-0-0.main.0.log").count(b"once") == 1


def test_fencing_kills_refuses_and_is_remembered(host: TestHost, client: Client) -> None:
    job = one(FOREVER)
    job.submit(client)
    uid = job.start(client)
    up(client, job)
    client.send("fence", id=job.id, token=5)
    client.event("fenced", id=job.id, token=5)
    assert job.processes() == []
    end = client.pod("Failed", uid=uid)
    assert end["reason"] == "Fenced"
    job.start(client)
    assert "token 1 is out of date" in client.event("error", op="start")["message"]
    host.end_daemon(9)
    again = host.connected()
    answer = job.submit(again, token=4)
    assert not answer["ok"]
    assert "token 4 is out of date" in answer["error"]
    assert job.submit(again, token=5)["ok"]
    job.start(again, token=5)
    assert again.pod("Running")["token"] == 5


def test_a_higher_token_begins_anew_with_the_output_of_before(client: Client) -> None:
    job = one(
        'cat "$TRAINWAY_OUTPUT_DIR/x"; echo $TRAINWAY_FENCING_TOKEN > "$TRAINWAY_OUTPUT_DIR/x"; '
        "exec sleep 1000"
    )
    job.submit(client)
    job.start(client)
    client.event("output", path="output/x", last=True)
    first = len(client.frames)
    assert job.submit(client, token=2)["ok"]
    job.start(client, token=2)
    record = client.until(lambda frame: frame["event"] == "record" and frame["token"] == 2)
    assert record["seq"] == 0
    client.until(lambda frame: frame["event"] == "log")
    log = [frame for frame in client.frames[first:] if frame["event"] == "log"]
    assert log[-1]["offset"] == 0
    assert base64.b64decode(log[-1]["data"]).endswith(b"o 1\n")


def test_what_is_asked_about_a_job_waits_its_turn(client: Client) -> None:
    """A start right behind the job's new token comes after everything of the old one is gone."""
    job = one("trap '' TERM; echo up; sleep 1000; sleep 1")
    job.submit(client)
    job.start(client)
    up(client, job)
    old = job.processes()
    client.send("job", id=job.id, token=2, plan=job.plan)
    uid = job.start(client, token=2)
    client.pod("Running", uid=uid)
    assert old
    assert set(old) & set(job.processes()) == set()


def test_what_a_pod_sees(host: TestHost, client: Client) -> None:
    job = one(
        'echo "$TRAINWAY_FENCING_TOKEN|$TRAINWAY_WORK_DIR|$FROM_START|$CUDA_VISIBLE_DEVICES|$PATH";'
        "pwd; cd $TRAINWAY_WORK_DIR",
        workdir="/no/such/directory",
    )
    main = job.plan["jobset"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    main["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    job.submit(client)
    job.start(client, devices={"gpus": ["1", "3"]}, env={"FROM_START": "yes"})
    client.pod("Succeeded")
    lines = [
        line.split(b" o ")[1].decode() for line in client.log("node-0-0.main.0.log").splitlines()
    ]
    folder = host.home / "jobs" / job.id
    assert lines[0].startswith(f"1|{folder}/work/node-0-0|yes|1,3|{host.home}/bin:")
    assert lines[1] == f"{folder}/work"


def test_output_comes_before_the_last_record_and_nothing_comes_twice(client: Client) -> None:
    job = one(
        'mkdir -p "$TRAINWAY_OUTPUT_DIR/deep"; cd "$TRAINWAY_OUTPUT_DIR";'
        "head -c 700000 /dev/zero | tr '\\0' x > deep/big; ln -s deep/big latest; echo small > s"
    )
    job.submit(client)
    job.start(client)
    client.pod("Succeeded")
    assert client.output("output/deep/big") == b"x" * 700000
    assert client.output("output/s") == b"small\n"
    last = [frame for frame in client.frames if frame["event"] == "output" and frame["last"]]
    assert sorted(frame["path"] for frame in last) == [
        "output/deep/big",
        "output/latest",
        "output/s",
    ]
    assert next(f["link"] for f in last if f["path"] == "output/latest") == "deep/big"


def test_output_that_is_kept_does_not_travel(client: Client) -> None:
    job = one('echo x > "$TRAINWAY_OUTPUT_DIR/x"', outputs="keep")
    job.submit(client)
    job.start(client)
    client.pod("Succeeded")
    job.submit(client)
    assert [frame for frame in client.frames if frame["event"] == "output"] == []


def test_files_that_are_put_are_there_and_do_not_come_back(client: Client) -> None:
    job = one('cat "$TRAINWAY_OUTPUT_DIR/ckpt/1"; stat -c %Y "$TRAINWAY_OUTPUT_DIR/ckpt/1"')
    job.submit(client)
    for offset, text, last in ((0, b"first ", False), (6, b"second\n", True)):
        data = base64.b64encode(text).decode()
        client.send(
            "put",
            id=job.id,
            path="output/ckpt/1",
            data=data,
            offset=offset,
            last=last,
            mtime=1700000000.0,
            mode=0o600,
        )
    client.send("put", id=job.id, path="output/../plan.json", data="", offset=0, last=True)
    assert "not a path below output" in client.event("error", op="put")["message"]
    job.start(client)
    client.pod("Succeeded")
    log = client.log("node-0-0.main.0.log")
    assert b"o first second\n" in log
    assert b"o 1700000000\n" in log
    assert client.output("output/ckpt/1") is None


def test_large_values_travel_as_blobs_and_only_once(client: Client) -> None:
    text = "line\n" * 100_000
    name = hashlib.sha256(text.encode()).hexdigest()
    volume = {"name": "v", "configMap": {"name": "files"}}
    mount = {"name": "v", "mountPath": "/etc/files"}
    main = container("main", "wc -l < /etc/files/big; cat /etc/files/little", volumeMounts=[mount])
    data = {"big": {"$blob": name}, "little": "inline\n"}
    objects = [{"kind": "ConfigMap", "metadata": {"name": "files"}, "data": data}]
    job = HostJob(jobset(role("node", main, pod={"volumes": [volume]})), objects=objects)
    assert not job.submit(client)["ok"]
    client.send("have", id=job.id, blobs=[name])
    assert client.event("missing", id=job.id)["blobs"] == [name]
    raw = text.encode()
    half = len(raw) // 2
    for offset, piece, last in ((0, raw[:half], False), (half, raw[half:], True)):
        encoded = base64.b64encode(piece).decode()
        client.send("blob", sha256=name, data=encoded, offset=offset, last=last)
    client.send("have", id="other", blobs=[name])
    assert client.event("missing", id="other")["blobs"] == []
    assert job.submit(client)["ok"]
    job.start(client)
    client.pod("Succeeded")
    log = client.log("node-0-0.main.0.log")
    assert b"o 100000\n" in log
    assert b"o inline\n" in log


def test_removal_leaves_nothing(host: TestHost, client: Client) -> None:
    job, other = one(FOREVER), one(FOREVER)
    for item in (job, other):
        item.submit(client)
        item.start(client)
        up(client, item)
    client.send("remove", id=job.id)
    client.event("removed", id=job.id)
    assert job.processes() == []
    assert other.processes() != []
    assert [path.name for path in (host.home / "jobs").iterdir()] == [other.id]
    assert set(host.connected().frames[-1]["jobs"]) == {other.id}


def test_output_that_stays_survives_its_job(host: TestHost, client: Client) -> None:
    job = one('echo x > "$TRAINWAY_OUTPUT_DIR/x"', outputs="keep")
    job.submit(client)
    job.start(client)
    client.pod("Succeeded")
    client.send("remove", id=job.id, keep=True)
    client.event("removed", id=job.id)
    host.end_daemon(15)
    assert host.connected().frames[-1]["jobs"] == {}
    found = [path.relative_to(host.home / "jobs") for path in (host.home / "jobs").rglob("*")]
    assert [str(path) for path in sorted(found)] == [
        job.id,
        f"{job.id}/output",
        f"{job.id}/output/x",
    ]


def test_a_process_without_any_mark_goes_with_the_last_pod(client: Client) -> None:
    seconds = str(10**6 + int.from_bytes(os.urandom(3), "big"))
    # It goes on as the same program: the command line of one that is just replaced is empty.
    stray = f"echo up > $1; sleep {seconds}; :"
    job = one(
        f"cd $TRAINWAY_WORK_DIR; mkfifo f; env -i setsid sh -c '{stray}' - $PWD/f & cat f;"
        f" tr '\\0' ' ' < /proc/$!/cmdline"
    )
    job.submit(client)
    job.start(client)
    client.pod("Succeeded")
    assert seconds.encode() in client.log("node-0-0.main.0.log")
    assert running(seconds) == []


def running(word: str) -> list[str]:
    """The processes with that in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word in path.read_text(errors="replace"):
                found.append(path.parent.name)
    return found


def test_pods_call_each_other_by_name(client: Client) -> None:
    job = two("getent hosts trial-node-0-1.sub; getent hosts trial-node-0-0")
    job.submit(client)
    job.start(client, addresses={"node-0-0": HERE, "node-0-1": "10.9.8.7"})
    client.pod("Succeeded")
    log = client.log("node-0-0.main.0.log").decode()
    assert "10.9.8.7" in log.splitlines()[0]
    assert HERE in log.splitlines()[1]


def test_names_become_addresses_where_nothing_can_be_mounted(client: Client) -> None:
    data = {"hosts": "trial-node-0-0.sub\ntrial-node-0-1.sub:22\n"}
    objects = [{"kind": "ConfigMap", "metadata": {"name": "files"}, "data": data}]
    reference = {"configMapKeyRef": {"name": "files", "key": "hosts"}}
    env = [
        {"name": "PEER", "value": "tcp://trial-node-0-1.sub:9"},
        {"name": "HOSTS", "valueFrom": reference},
    ]
    main = container("main", 'echo "$PEER trial-node-0-1" $HOSTS', env=env)
    node = role("node", main, parallelism=2, completions=2)
    spec = jobset(node, network={"subdomain": "sub"})
    job = HostJob(spec, objects=objects, mounts="none")
    job.submit(client)
    job.start(client, addresses={"node-0-0": HERE, "node-0-1": "10.9.8.7"})
    client.pod("Succeeded")
    log = client.log("node-0-0.main.0.log").decode()
    assert log.endswith(f"o tcp://10.9.8.7:9 10.9.8.7 {HERE} 10.9.8.7:22\n")
    told = [f["reason"] for f in client.frames if f["event"] == "record" and f["type"] == "event"]
    assert "NamesReplaced" in told


def test_another_owner_sees_nothing_of_a_job(host: TestHost, client: Client) -> None:
    job = one(FOREVER)
    job.submit(client)
    job.start(client)
    up(client, job)
    stranger = host.client(owner="stranger")
    assert stranger.hello()["jobs"] == {}
    assert "another user already has a job" in job.submit(stranger)["error"]
    for op in ("stop", "resume"):
        stranger.send(op, id=job.id, uid="x")
        assert "no such job" in stranger.event("error", op=op)["message"]


def test_a_host_that_is_cut_off_stops_by_itself(host: TestHost) -> None:
    """No peer is there and no owner speaks; nothing listens on the peers' ports."""
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        peers = [[HERE, taken.getsockname()[1]]] * 3
        client = host.connected(peers=peers, votes=5)
        job = one(FOREVER)
        job.submit(client)
        job.start(client)
        up(client, job)
        client.process.wait(PATIENCE)
        assert job.processes() == []
        again = host.connected()
        again.send("resume", id=job.id, after=-1, logs={})
        assert again.pod("Failed")["reason"] == "Fenced"
        again.pod("Running", uid=job.start(again))
