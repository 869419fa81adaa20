import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainway.errors import NotFoundError, UnavailableError
from trainway.sdk.address import Address
from trainway.sdk.rest import LogQuery, Rest, Submission
from trainway.sdk.testing import FakeServer
from trainway.sdk.transport import StreamControl, Transport


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeServer]:
    with FakeServer(tmp_path / "home") as server:
        yield server


def rest(fake: FakeServer, token: str = "") -> Rest:
    return Rest(Transport(Address(str(fake.socket), token=token), sleep=lambda _: None))


def test_a_stream_may_be_followed_until_any_time() -> None:
    with socket.socket() as waiting:
        waiting.settimeout(StreamControl(time.monotonic() + 1e12).time_left())


def test_a_request_gives_the_answer_and_shows_the_token(fake: FakeServer) -> None:
    job = fake.add_job("a")
    assert rest(fake, "secret").get("a") == job
    assert fake.headers[-1]["Authorization"] == "Bearer secret"


def test_a_name_cannot_leave_its_place_in_the_path(fake: FakeServer) -> None:
    with pytest.raises(NotFoundError, match=r'no job "\.\.\?x"') as caught:
        rest(fake).get("..?x")
    assert caught.value.hint == "trainway jobs list shows all"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "the name is empty"),
        ("../server?x", r"nothing is called '\.\./server\?x'"),
        ("./train.py", r"nothing is called '\./train.py'"),
    ],
)
def test_what_can_be_no_name_is_not_asked_for(fake: FakeServer, name: str, said: str) -> None:
    with pytest.raises(NotFoundError, match=said):
        rest(fake).get(name)
    assert fake.requests == []


def test_nobody_listening_is_said_in_one_line(tmp_path: Path) -> None:
    transport = Transport(Address(str(tmp_path / "none.sock")), sleep=lambda _: None)
    with pytest.raises(UnavailableError, match=r"^no server listens on unix:.*none.sock$"):
        transport.request("GET", "/server")
    (tmp_path / "file").write_text("")
    below = Transport(Address(str(tmp_path / "file" / "none.sock")), sleep=lambda _: None)
    with pytest.raises(UnavailableError, match="no server listens") as caught:
        below.request("GET", "/server")
    assert str(caught.value.hint).startswith("check the address; trainway server start --listen")


def test_a_server_that_is_gone_is_woken(fake: FakeServer, tmp_path: Path) -> None:
    woken: list[bool] = []

    def wake() -> Address:
        woken.append(True)
        return Address(str(fake.socket))

    transport = Transport(Address(str(tmp_path / "none.sock")), wake)
    assert transport.request("GET", "/server")["jobs"]["total"] == 0
    assert transport.request("GET", "/server")["jobs"]["total"] == 0
    assert woken == [True]


def test_a_path_too_long_for_a_socket_is_looked_up_again(fake: FakeServer) -> None:
    transport = Transport(Address("/" + "x" * 200), lambda: Address(str(fake.socket)))
    assert transport.request("GET", "/server")["jobs"]["total"] == 0


JOB = {"kind": "JobSet", "metadata": {"name": "a"}}


def test_a_submission_without_an_answer_is_repeated_and_makes_one_job(fake: FakeServer) -> None:
    fake.lost_answers = 2
    job, _ = rest(fake).submit(Submission([JOB], {}))
    assert list(fake.jobs) == [job["metadata"]["id"]]
    keys = [headers["Idempotency-Key"] for headers in fake.headers]
    assert (len(keys), len(set(keys))) == (3, 1)
    rest(fake).submit(Submission([JOB], {}))
    assert fake.headers[-1]["Idempotency-Key"] not in keys


def test_other_changes_are_not_repeated(fake: FakeServer) -> None:
    fake.lost_answers = 1
    with pytest.raises(UnavailableError):
        Transport(Address(str(fake.socket))).request(
            "POST", "/jobs", body={"objects": [JOB], "options": {}}
        )
    assert len(fake.requests) == 1


def test_a_log_is_taken_up_again_behind_its_last_line(fake: FakeServer) -> None:
    job = fake.add_job("a", "Succeeded")
    for number in range(10):
        fake.log(job, str(number))
    fake.break_after = 4
    lines = rest(fake).logs("a", LogQuery(follow=True))
    assert [line.text for line in lines] == list("0123456789")
    assert [headers.get("Last-Event-ID") for headers in fake.headers] == [None, "4"]


def test_a_watch_is_taken_up_again_until_the_end(fake: FakeServer) -> None:
    job = fake.add_job("a", "Running")
    fake.break_after = 1
    phases = []
    for seen in rest(fake).watch("a"):
        phases.append(seen["status"]["phase"])
        if len(phases) == 2:
            fake.update(job, "Succeeded")
    assert phases == ["Running", "Running", "Succeeded"]


def test_a_stream_that_only_breaks_is_given_up(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    path = str(fake.socket)
    fake.close()
    pauses: list[float] = []
    transport = Transport(Address(path), sleep=pauses.append)
    with pytest.raises(UnavailableError, match="no server listens"):
        list(transport.stream("/jobs/a/watch"))
    assert pauses[:3] == [0.02, 0.04, 0.08]
    assert max(pauses) == 1.0
    assert 10 < sum(pauses) < 30


def test_a_stream_of_a_job_that_is_deleted_ends(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    fake.break_after = 1
    stream = rest(fake).watch("id0000")
    next(stream)
    del fake.jobs["id0000"]
    with pytest.raises(NotFoundError):
        next(stream)


def test_a_stream_ends_at_its_deadline(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    control, seen, end = StreamControl(time.monotonic() + 60), [], 0.0
    for job in rest(fake).watch("a", control):
        seen.append(job["status"]["phase"])
        control._deadline = end = time.monotonic() + 0.05
    assert seen == ["Running"]
    assert time.monotonic() >= end


def test_a_stream_ends_when_another_thread_says_so(fake: FakeServer) -> None:
    fake.add_job("a", "Running")
    control = StreamControl()
    got_one = threading.Event()
    seen = []

    def read() -> None:
        for job in rest(fake).watch("a", control):
            seen.append(job)
            got_one.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert got_one.wait(60)
    control.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert len(seen) == 1


def test_an_answer_that_is_not_ours_is_named(fake: FakeServer, tmp_path: Path) -> None:
    fake.refusal = (200, {})
    transport = Transport(Address(str(fake.socket)))
    assert transport.request("POST", "/jobs", body={}) == {}
    assert json.loads(json.dumps(fake.requests[-1])) == ["POST", "/api/v1/jobs", {}]
