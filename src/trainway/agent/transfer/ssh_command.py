"""What is said to OpenSSH: the argument lists, as pure functions.

The `ssh` of the user's machine does the rest, so that ~/.ssh/config, agents, jump hosts, hardware
keys and known hosts work exactly as they do for the user. Nothing here ever turns off the check of
a host key. The remote commands run in `sh`, whatever shell the user has there.
"""

from __future__ import annotations

import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


GREETING = "trainway-connected"
"""The first line from the other side: from then on the host may hear what we say."""
NO_AGENT, NO_PYTHON, OLD_PYTHON, NO_FOLDER, BAD_COPY = 79, 80, 81, 82, 83
"""The exit statuses of our remote commands."""
OLDEST_PYTHON = (3, 8)
FIXED = (
    "-T",
    "-o", "BatchMode=yes",
    "-o", "ConnectTimeout=5",
    "-o", "ServerAliveInterval=2",
    "-o", "ServerAliveCountMax=3",
    "-o", "ClearAllForwardings=yes",
    "-o", "RemoteCommand=none",
)  # fmt: skip
"""The options that come before all others, since the first value that ssh gets for an option
counts."""


def connect_arguments(host: Json, digest: str) -> list[str]:
    """The program that connects to the agent of a host, starting it where it does not run."""
    if host.get("command"):
        return [str(word) for word in host["command"]]
    return ssh_arguments(host, connect_script(host, digest))


def copy_arguments(host: Json, digest: str, size: int) -> list[str]:
    """The program that puts the agent on a host; the file is its standard input."""
    return ssh_arguments(host, copy_script(host, digest, size))


def connect_script(host: Json, digest: str) -> str:
    """What the host does to connect us."""
    home = host.get("home")
    where = shell_path(str(home)) if home else '"$HOME/.trainway/host/$(uname -n)"'
    return agent_script(host, digest, f"host connect --home {where}")


def agent_script(host: Json, digest: str, words: str) -> str:
    """What a host does to become an agent: one that is told so by these words of a shell."""
    python = shell_path(_python(host))
    return "; ".join(
        (
            f'f="$HOME/.trainway/agent/{digest}.pyz"',
            f"command -v {python} >/dev/null 2>&1 || exit {NO_PYTHON}",
            f'[ -f "$f" ] || exit {NO_AGENT}',
            f"echo {GREETING}",
            f'exec {python} "$f" {words}',
        )
    )


def copy_script(host: Json, digest: str, size: int) -> str:
    """What the host does to take a copy of the agent: whole, or not at all.

    It compiles the agent for its own Python, which needs a fifth of the time to start then. Where
    that fails, for lack of space perhaps, the agent starts from its sources. What somebody else has
    put there meanwhile stays: an agent may run from it, and another Python's bytecode is not alike.
    """
    python = shell_path(_python(host))
    check = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    return "; ".join(
        (
            "umask 077",
            f"command -v {python} >/dev/null 2>&1 || exit {NO_PYTHON}",
            f'{python} -c "{check}" || exit {OLD_PYTHON}',
            'd="$HOME/.trainway/agent"',
            f'mkdir -p "$d" || exit {NO_FOLDER}',
            f'f="$d/{digest}.pyz"',
            't="$f.$$"',
            'c="$t.compiled"',
            f'cat > "$t" && [ "$(wc -c < "$t")" -eq {size} ] || {{ rm -f "$t"; exit {BAD_COPY}; }}',
            f'{{ {python} -I -S "$t" compile "$c" </dev/null && mv "$c" "$t"; }} >/dev/null 2>&1',
            'ln "$t" "$f" 2>/dev/null || [ -f "$f" ] || mv "$t" "$f"',
            'rm -f "$t" "$c"',
            f'[ -f "$f" ] || exit {BAD_COPY}',
        )
    )


def login(host: Json) -> str:
    """What a person would type to get there."""
    if host.get("by_hand"):
        return str(host["by_hand"])
    words = ["ssh", *(str(option) for option in host.get("options") or [])]
    words += [*_port(host), str(host.get("destination") or host["name"])]
    return " ".join(shlex.quote(word) for word in words)


def ssh_arguments(host: Json, script: str) -> list[str]:
    """The program that runs a script on a host."""
    words = ["ssh", *FIXED, *_port(host)]
    if host.get("identity"):
        words += ["-i", str(host["identity"])]
    words += [str(option) for option in host.get("options") or []]
    return [*words, "--", str(host["destination"]), f"exec sh -c {shlex.quote(script)}"]


def _port(host: Json) -> list[str]:
    """22 is not said, so that ~/.ssh/config can say another."""
    port = int(host.get("port") or 22)
    return [] if port == 22 else ["-p", str(port)]


def _python(host: Json) -> str:
    return str(host.get("python") or "python3")


def shell_path(text: str) -> str:
    """A path or program in the words of a shell, where `~/` begins one at home."""
    if text.startswith("~/"):
        return f'"$HOME"/{shlex.quote(text[2:])}'
    return shlex.quote(text)


def in_sh(script: str) -> str:
    """The words of any shell that run a script in `sh`; what follows them is the command."""
    quoted = shlex.quote(f'{script} "$@"')
    return f"exec sh -c {quoted} sh"
