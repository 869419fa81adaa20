from collections.abc import Sequence

import pytest

from trainway.backends.ssh.host_lookup import Found, Lookup, command, description, parsed
from trainway.backends.ssh.section import Host
from trainway.errors import UsageError

SAID = "user me\nhostname gpu-3.lab\nport 2222\nproxyjump gate\nsendenv LANG LC_*\n"


def unresolved(name: str) -> str:
    return name


def test_what_ssh_says_of_a_host() -> None:
    assert parsed(SAID) == Found("gpu-3.lab", 2222, "me")


def test_the_question_is_that_of_a_login() -> None:
    host = Host("gpu-3", "gpu-3", user="you", options=("-F", "/file"))
    assert command(host) == ["ssh", "-G", "-F", "/file", "-l", "you", "gpu-3"]


def test_a_host_that_is_only_a_name_is_as_ssh_says() -> None:
    assert description(Host("gpu-3", "gpu-3"), parsed(SAID), unresolved) == {
        "name": "gpu-3",
        "destination": "gpu-3",
        "port": 2222,
        "user": "me",
        "address": "gpu-3.lab",
        "options": [],
        "python": "python3",
    }


def test_what_is_configured_counts_more() -> None:
    host = Host(
        "gpu-3",
        "big",
        user="you",
        port=22,
        identity="/key",
        address="10.0.0.3",
        env={"A": "1"},
        options=("-v",),
        limits={"cpus": 8, "gpus": 0},
    )
    assert description(host, parsed(SAID), {"10.0.0.3": "10.0.0.3"}.__getitem__) == {
        "name": "big",
        "destination": "you@gpu-3",
        "port": 22,
        "user": "you",
        "address": "10.0.0.3",
        "options": ["-v"],
        "python": "python3",
        "identity": "/key",
        "env": {"A": "1"},
        "cpus": 8,
        "gpus": 0,
    }


def test_ssh_is_asked_once_in_a_while() -> None:
    asked: list[Sequence[str]] = []
    now = [0.0]

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        asked.append(words)
        return 0, SAID, ""

    lookup = Lookup(run, unresolved, lambda: now[0])
    host = Host("gpu-3", "gpu-3", env={"A": "1"})
    assert lookup.described(host) is lookup.described(host)
    assert len(asked) == 1
    now[0] = 60.0
    lookup.described(host)
    assert len(asked) == 2


def test_what_ssh_does_not_understand_is_its_word() -> None:
    lookup = Lookup(lambda _words: (255, "", "/c: line 1: Bad configuration option: x\n"))
    with pytest.raises(UsageError, match="host a: /c: line 1: Bad configuration option") as caught:
        lookup.described(Host("a", "a"))
    assert caught.value.hint == "try: ssh -G a"
