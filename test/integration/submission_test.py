"""A submission whose answer is lost: the client asks again, and there is one job."""

import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainway.backends.testing import FakeBackend
from trainway.engine.intake import elements
from trainway.engine.preparation import prepare
from trainway.engine.submission import Submission as Engineered
from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.sdk.address import Address
from trainway.sdk.manifests import Wishes
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.targets import script_objects
from trainway.sdk.transport import Transport
from trainway.server.testing import LIMIT_S, RunningServer, Starts


def pass_on_and_kill(listener: socket.socket, server: RunningServer) -> None:
    """Pass one request on to the server; when it begins to answer, kill it and hang up."""
    client, _ = listener.accept()
    with client, socket.socket(socket.AF_UNIX) as upstream:
        listener.close()
        upstream.connect(str(server.home / "server.sock"))
        while upstream not in select.select([client, upstream], [], [], LIMIT_S)[0]:
            upstream.sendall(client.recv(1 << 16))
        server.kill()


def test_a_server_killed_before_its_answer_arrives_has_made_one_job(
    tmp_path: Path, starts: Starts
) -> None:
    server = starts(RunningServer(tmp_path / "home"))
    marks = tmp_path / "marks"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "lossy.sock"))
    listener.listen()

    def wake() -> Address:
        server.start()
        return Address(str(server.home / "server.sock"))

    lossy = threading.Thread(target=pass_on_and_kill, args=(listener, server))
    lossy.start()
    rest = Rest(Transport(Address(str(tmp_path / "lossy.sock")), wake))
    job, _ = rest.submit(Submission([jobset("once", f"echo x >> {marks}")], {}))
    lossy.join(LIMIT_S)
    assert server.wait(job["metadata"]["id"])["status"]["phase"] == "Succeeded"
    assert [each["metadata"]["id"] for each in server.jobs()] == [job["metadata"]["id"]]
    assert marks.read_text() == "x\n"


def test_the_same_key_is_the_same_job(server: RunningServer) -> None:
    body = {"objects": [jobset("keyed")]}
    key = {"Idempotency-Key": "one"}
    first, again = (server.request("POST", "/jobs", body, key) for _ in range(2))
    assert (first.status, again.status) == (201, 201)
    assert first.body["job"]["metadata"] == again.body["job"]["metadata"]
    other = server.request("POST", "/jobs", body, {"Idempotency-Key": "two"})
    assert other.body["job"]["metadata"]["id"] != first.body["job"]["metadata"]["id"]
    status, error = server.error("POST", "/jobs", body, {"Idempotency-Key": "x" * 129})
    assert (status, error["field"]) == (422, "idempotency-key")


def named(objects: list[Json]) -> set[tuple[str, str]]:
    return {(obj["kind"], obj["metadata"]["name"]) for obj in objects}


def read_by_pods(value: Any) -> Iterator[tuple[str, str]]:
    """The ConfigMaps that a JobSet mounts."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if name == "configMap":
            yield "ConfigMap", item["name"]
        elif isinstance(item, dict | list):
            yield from read_by_pods(item)


def test_jobs_of_one_submission_share_no_object(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import helper, torch")
    (tmp_path / "helper.py").write_text("")
    objects = script_objects(str(script), [], Wishes(on="k8s/test", image="i", nodes=2))
    first, second = (
        prepare(each, FakeBackend()) for each in elements(Engineered(objects, num_jobs=2))
    )
    assert sorted(kind for kind, _ in named(first.objects)) == ["ConfigMap", "TrainJob"]
    assert not named(first.objects) & named(second.objects)
    for job in (first, second):
        mounted = set(read_by_pods(job.jobset))
        assert mounted
        assert mounted <= named(job.companions)
