import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.transfer import ssh_command
from trainway.agent.transfer.ssh_command import connect_arguments, copy_arguments, login
from trainway.json_types import Json

CONNECT = (
    'exec sh -c \'f="$HOME/.trainway/agent/d1.pyz"; '
    "command -v python3 >/dev/null 2>&1 || exit 80; "
    '[ -f "$f" ] || exit 79; '
    "echo trainway-connected; "
    'exec python3 "$f" host connect --home "$HOME/.trainway/host/$(uname -n)"\''
)
COPY = (
    "exec sh -c 'umask 077; "
    "command -v python3 >/dev/null 2>&1 || exit 80; "
    'python3 -c "import sys; sys.exit(sys.version_info < (3, 8))" || exit 81; '
    'd="$HOME/.trainway/agent"; '
    'mkdir -p "$d" || exit 82; '
    'f="$d/d1.pyz"; '
    't="$f.$$"; '
    'c="$t.compiled"; '
    'cat > "$t" && [ "$(wc -c < "$t")" -eq 1234 ] || { rm -f "$t"; exit 83; }; '
    '{ python3 -I -S "$t" compile "$c" </dev/null && mv "$c" "$t"; } >/dev/null 2>&1; '
    'ln "$t" "$f" 2>/dev/null || [ -f "$f" ] || mv "$t" "$f"; '
    'rm -f "$t" "$c"; '
    '[ -f "$f" ] || exit 83\''
)

OPTIONS = [
    "-T",
    "-o", "BatchMode=yes",
    "-o", "ConnectTimeout=5",
    "-o", "ServerAliveInterval=2",
    "-o", "ServerAliveCountMax=3",
    "-o", "ClearAllForwardings=yes",
    "-o", "RemoteCommand=none",
]  # fmt: skip
PLAIN: Json = {"name": "a1", "destination": "a1", "port": 22}
FULL: Json = {
    "name": "gpu",
    "destination": "me@gpu-3",
    "port": 2222,
    "identity": "~/.ssh/x",
    "options": ["-F", "/etc/my config", "-o", "ProxyJump=door"],
}


@dataclass(frozen=True)
class Case:
    name: str
    arguments: list[str]
    expected: list[str]


CASES = [
    Case("connect", connect_arguments(PLAIN, "d1"), ["ssh", *OPTIONS, "--", "a1", CONNECT]),
    Case("copy", copy_arguments(PLAIN, "d1", 1234), ["ssh", *OPTIONS, "--", "a1", COPY]),
    Case(
        "all that can be configured",
        connect_arguments(FULL, "d1"),
        [
            "ssh", *OPTIONS, "-p", "2222", "-i", "~/.ssh/x",
            "-F", "/etc/my config", "-o", "ProxyJump=door", "--", "me@gpu-3", CONNECT,
        ],
    ),
    Case(
        "without a network",
        connect_arguments({"name": "this", "command": ["python3", "agent", "host"]}, "d1"),
        ["python3", "agent", "host"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_arguments(case: Case) -> None:
    assert case.arguments == case.expected


def test_host_keys_are_always_checked() -> None:
    source = Path(ssh_command.__file__).read_text()
    assert "StrictHostKeyChecking" not in source
    assert "UserKnownHostsFile" not in source


def test_login() -> None:
    assert login(PLAIN) == "ssh a1"
    assert login(FULL) == "ssh -F '/etc/my config' -o ProxyJump=door -p 2222 me@gpu-3"


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_odd_paths_reach_the_host_as_they_are(shell: str, tmp_path: Path) -> None:
    """A home and a Python with blanks, quotes and dollars, through the user's shell and ours."""
    python = tmp_path / "my $bin" / "it's python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    python.chmod(0o755)
    agent = tmp_path / ".trainway" / "agent" / "d1.pyz"
    agent.parent.mkdir(parents=True)
    agent.touch()
    host: Json = {**PLAIN, "python": "~/my $bin/it's python", "home": "~/a b/$c"}
    script = connect_arguments(host, "d1")[-1]
    done = subprocess.run(
        [shell, "-c", script],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "trainway-connected",
        f"{agent}|host|connect|--home|{tmp_path}/a b/$c|",
    ]


def test_the_script_is_one_word_for_the_shell_of_the_user() -> None:
    words = shlex.split(connect_arguments(PLAIN, "d1")[-1])
    assert words[:3] == ["exec", "sh", "-c"]
    assert len(words) == 4
