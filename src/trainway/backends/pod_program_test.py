import asyncio
import os
import sys

import pytest

from trainway.backends import pod_program
from trainway.errors import UnavailableError
from trainway.json_types import Json

MARKER = b"TRAINWAY-STACKS "
REMOTE: Json = {
    "job": "abc",
    "container": "node",
    "program": ["ssh", "-p", "22", "host"],
    "remote": {"node": "python3 -c JOIN abc 7"},
}
IN_CLUSTER: Json = {
    "job": "abc",
    "pod": "p-0",
    "container": "node",
    "namespace": "ml",
    "context": "test",
    "kubeconfig": ["/k"],
}


def test_ssh_never_asks_anybody() -> None:
    words = pod_program.request(REMOTE)
    assert words[:7] == ["ssh", "-T", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"]
    assert words[7:10] == ["-p", "22", "host"]
    assert words[-1].startswith("python3 -c JOIN abc 7 --beside ")


def test_a_shell_that_is_not_ssh_gets_no_options_of_ssh() -> None:
    words = pod_program.request({**REMOTE, "program": ["sh", "-c"]})
    assert words[:2] == ["sh", "-c"]
    assert len(words) == 3


def test_in_a_cluster_it_is_a_command_in_the_container() -> None:
    words = pod_program.request(IN_CLUSTER)
    assert words[3:6] == ["trainway.kube.attach", "exec", "--kubeconfig"]
    at = words.index("--")
    assert words[at - 4 : at] == ["--pod", "p-0", "--container", "node"]
    assert words[at + 1 : at + 3] == ["sh", "-c"]
    assert words[-1] == "0"


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (b"", None),
        (b"Welcome to the host\n", None),
        (b"hello\n" + MARKER + b'{"processes": []}\n', {"processes": []}),
        (MARKER + b'{"a": 1}\n' + MARKER + b'{"b": 2}\n', {"b": 2}),
        (MARKER + b"[1]\n", None),
        (MARKER + b"{broken\n", None),
        (MARKER + b"[" * 100_000 + b"\n", None),
    ],
    ids=["nothing", "noise", "after noise", "twice", "no object", "no JSON", "deep"],
)
def test_what_comes_back_is_found_among_other_lines(output: bytes, answer: Json | None) -> None:
    assert pod_program.answer_of(output) == answer


def test_a_process_of_another_job_is_not_looked_into() -> None:
    place = {"job": "abc", "container": "node", "processes": {"node": os.getpid()}}
    with pytest.raises(UnavailableError, match="the process of the pod is gone"):
        asyncio.run(pod_program.ask(place))


def test_a_place_that_does_not_answer_is_given_up() -> None:
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    place = {**REMOTE, "program": program}
    with pytest.raises(UnavailableError, match=r"has not answered within 0\.5 s"):
        asyncio.run(pod_program.ask(place, patience_s=0.5))
