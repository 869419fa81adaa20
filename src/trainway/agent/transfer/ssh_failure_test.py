from dataclasses import dataclass

import pytest

from trainway.agent.transfer.ssh_command import NO_PYTHON, OLD_PYTHON
from trainway.agent.transfer.ssh_failure import explain, not_startable
from trainway.json_types import Json

HOST: Json = {"name": "a1", "destination": "me@a1", "port": 2222}
CHANGED = b"""@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Host key verification failed.
"""


@dataclass(frozen=True)
class Case:
    said: bytes
    message: str
    hint: str
    status: int | None = 255


CASES = [
    Case(CHANGED, "its host key has changed: somebody may be listening in", "ssh-keygen -R"),
    Case(
        b"No ED25519 host key is known for a1 and you have requested strict checking.\r\n"
        b"Host key verification failed.\r\n",
        "its host key is not known here",
        "connect once by hand and compare the key: ssh -p 2222 me@a1",
    ),
    Case(
        b"me@a1: Permission denied (publickey,password).\r\n",
        "the login was refused (publickey,password)",
        "ssh-add -l",
    ),
    Case(
        b"ssh: Could not resolve hostname a1: Name or service not known\r\n",
        "there is no host named a1",
        "~/.ssh/config",
    ),
    Case(
        b"ssh: connect to host a1 port 2222: Connection refused\r\n",
        "nothing listens there for SSH",
        "sshd is running",
    ),
    Case(
        b"ssh: connect to host a1 port 22: No route to host\r\n",
        "there is no route to it",
        "it is on",
    ),
    Case(
        b"ssh: connect to host a1 port 22: Connection timed out\r\n",
        "it did not answer within 5 s",
        "firewall",
    ),
    Case(
        b"Timeout, server a1 not responding.\r\n",
        "it stopped answering",
        "it is on",
    ),
    Case(
        b"kex_exchange_identification: read: Connection reset by peer\r\n"
        b"Connection reset by 10.0.0.1 port 22\r\n",
        "it closed the connection",
        "limit connections",
    ),
    Case(
        b"sh: 1: cannot create /home/me/x: No space left on device\n",
        "its disk is full",
        "make room",
        83,
    ),
    Case(b"Welcome to a1\n", "there is no python3 on the host", "Python 3.8", 80),
    Case(b"", "python3 on the host is older than Python 3.8", "set `python`", 81),
    Case(b"", "~/.trainway cannot be made on the host", "home directory", 82),
    Case(b"", "the agent could not be copied to the host", "disk is full", 83),
    Case(b"\n** WARNING: post-quantum\nit burns\n\n", "it burns", "by hand: ssh -p 2222 me@a1", 1),
    Case(b"", "the connection ended (status 255)", "by hand"),
    Case(b"", "it does not answer", "by hand", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message)
def test_one_line_and_a_hint(case: Case) -> None:
    failure = explain(HOST, case.status, case.said)
    assert failure.message == case.message
    assert case.hint in failure.hint
    assert "\n" not in str(failure)


def test_without_openssh() -> None:
    assert str(not_startable(FileNotFoundError(2, "No such file"), "ssh")) == (
        "there is no program ssh here (install OpenSSH's client)"
    )


@pytest.mark.parametrize(
    ("said", "status", "is_lasting"),
    [
        (CHANGED, 255, True),
        (b"Host key verification failed.", 255, True),
        (b"me@a1: Permission denied (publickey).", 255, True),
        (b"ssh: Could not resolve hostname a1: Name or service not known", 255, True),
        (b"ssh: Could not resolve hostname a1: Temporary failure in name resolution", 255, False),
        (b"ssh: connect to host a1 port 22: Connection refused", 255, False),
        (b"ssh: connect to host a1 port 22: No route to host", 255, False),
        (b"No space left on device", 1, False),
        (b"", NO_PYTHON, True),
        (b"", OLD_PYTHON, True),
        (b"", None, False),
    ],
)
def test_what_only_a_person_can_mend_lasts(
    said: bytes, status: int | None, is_lasting: bool
) -> None:
    assert explain(HOST, status, said).lasting is is_lasting
