"""The nodes of an allocation: their names, and where they are."""

from __future__ import annotations

import re
import socket
import subprocess
import time

from trainway.agent.slurm.allocation import AllocationError
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay.slurm_failure import is_silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Run = Callable[[Sequence[str]], str]

SECONDS = 60.0
PATIENCE_SECONDS = 300.0
"""For how long a controller that does not answer is asked again."""
PAUSE_SECONDS = 2.0
_ADDRESS = re.compile(r"NodeName=(\S+).*?\bNodeAddr=(\S+)", re.DOTALL)
_NUMBERED = re.compile(r"([^][,]+)\[([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)\]", re.ASCII)
_LOOPBACK = ("127.", "::1")


def run(
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Run:
    """What gives the output of a program of Slurm.

    A job that has its nodes must not fail because nobody answered at that moment.
    """

    def output(argv: Sequence[str]) -> str:
        until = now() + PATIENCE_SECONDS
        while True:
            result = _result(argv, environ)
            if result.ok:
                return result.stdout
            if not is_silent(result) or now() >= until:
                said = result.stderr.strip() or f"it did not end within {SECONDS:.0f} s"
                raise AllocationError(f"{' '.join(argv)}: {said}")
            sleep(PAUSE_SECONDS)

    return output


def _result(argv: Sequence[str], environ: Mapping[str, str]) -> Result:
    try:
        done = subprocess.run(  # noqa: S603 - a program of Slurm
            list(argv),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result(argv, None, b"", b"")
    except OSError as error:
        raise AllocationError(f"{argv[0]}: {error}") from error
    return Result(argv, done.returncode, done.stdout, done.stderr)


def hostnames(listed: str, output: Run) -> list[str]:
    """The nodes in Slurm's short form of a list."""
    if "[" not in listed:
        return listed.split(",")
    found = _NUMBERED.fullmatch(listed)
    if found is not None:  # as on most clusters: no program needs to be asked
        return [f"{found.group(1)}{number}" for number in _numbers(found.group(2))]
    return output(("scontrol", "show", "hostnames", listed)).split()


def _numbers(text: str) -> Iterator[str]:
    """The numbers in `0-2,5`, as long as they are written."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield str(number).zfill(len(first))


def addresses(nodes: Iterable[str], own: str, output: Run) -> dict[str, str]:
    """Where the nodes reach each other; `own` is the one that this process is on.

    Slurm knows where they are; the name that it has there is looked up here. A node whose own
    name is a loopback address to itself is reached at another one by others.
    """
    wanted = sorted(set(nodes))
    told = node_addresses(output(("scontrol", "--oneliner", "show", "node", ",".join(wanted))))
    found = {node: _resolved(told.get(node) or node) for node in wanted}
    if len(set(found.values())) > 1 and found.get(own, "").startswith(_LOOPBACK):
        from trainway.agent.host import facts  # noqa: PLC0415 - few clusters need it

        others = facts.addresses()
        found[own] = others[0] if others else found[own]
    return found


def node_addresses(text: str) -> dict[str, str]:
    """The NodeAddr of each node in what `scontrol show node` prints, a line each."""
    found = {}
    for line in text.splitlines():
        match = _ADDRESS.match(line)
        if match is not None:
            found[match.group(1)] = match.group(2)
    return found


def address_in(text: str, node: str) -> str:
    """Where others reach a node, by what `scontrol show node` prints of it."""
    return _resolved(node_addresses(text).get(node) or node)


def _resolved(name: str) -> str:
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return name
    return str(sorted(answers, key=lambda item: item[0] != socket.AF_INET)[0][4][0])
