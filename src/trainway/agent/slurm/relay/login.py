"""What is said to a login node: to become the relay of a cluster, or to run a step of a job. Pure.

Without a login node it is this machine, and the same words go to a shell here.
"""

from __future__ import annotations

import shlex

from trainway.agent.transfer.ssh_command import agent_script, shell_path, ssh_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from trainway.json_types import Json


HOME = "~/.trainway/slurm"
STEP = (
    "exec srun $(test -t 0 && echo --pty) --quiet --overlap --nodes=1 --ntasks=1 "
    "--cpus-per-task=1 --mem=0"
)
"""What a person's step beside a job begins with; it has a terminal if its caller has one."""


def exports(env: Mapping[str, Any]) -> str:
    """The words of a shell that set variables."""
    return "".join(f"export {name}={shell_path(str(value))}; " for name, value in env.items())


def relay_script(host: Json, digest: str, env: Mapping[str, Any]) -> str:
    """What the login node does to become the relay."""
    home = shell_path(str(host.get("home") or HOME))
    return exports(env) + agent_script(host, digest, f"slurm relay --home {home}")


def login_host(cluster: Json) -> Json:
    """The login node of a cluster, as it is reached by ssh."""
    return {**cluster, "destination": cluster.get("login") or ""}


def shell_arguments(cluster: Json, line: str) -> list[str]:
    """The program that has a shell of the login node read a line."""
    if not cluster.get("login"):
        return ["sh", "-c", line]
    return ssh_arguments(login_host(cluster), line)


def person_arguments(cluster: Json) -> list[str]:
    """The same for a person, who is asked for passwords and may have a terminal; without a line."""
    if not cluster.get("login"):
        return ["sh", "-c"]
    identity = ["-i", str(cluster["identity"])] if cluster.get("identity") else []
    port = ["-p", str(cluster["port"])] if cluster.get("port") else []
    options = [str(word) for word in cluster.get("options") or ()]
    return ["ssh", *options, *identity, *port, str(cluster["login"])]


def shell_words(words: Sequence[str]) -> str:
    """Words for a shell, which reads them as they are."""
    return " ".join(shlex.quote(word) for word in words)
