"""What the nodes of a job that runs suffer: the one line that a list has room for. Pure.

A container that is killed and started again, or whose image cannot be pulled, leaves its job
running. Its owner is told of the first node that suffers, in the words of `failure`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.engine.failure import NOT_STARTED, OUT_OF_MEMORY, exit_words, shown_name, start_words

Node = Mapping[str, Any]

_OVER: Final = ("Succeeded", "Failed")


def trouble_of(nodes: Iterable[Node]) -> dict[str, str]:
    """The reason and message of the first node that suffers; empty texts: none does."""
    suffering = [node for node in nodes if _suffers(node)]
    if not suffering:
        return {"reason": "", "message": ""}
    first = next((node for node in suffering if node.get("reason")), suffering[0])
    others = len(suffering) - 1
    words = _words(first)
    if others:
        words += f"; {others} more {'node has' if others == 1 else 'nodes have'} trouble too"
    return {
        "reason": str(first.get("reason") or first.get("lastReason") or "Error"),
        "message": words,
    }


def _suffers(node: Node) -> bool:
    is_going = node.get("phase") not in _OVER and not node.get("stopped")
    return is_going and bool(node.get("reason") or node.get("lastExitCode"))


def _words(node: Node) -> str:
    """`node-1 was killed by SIGKILL: it ran out of memory; it was restarted 2 times`."""
    parts = []
    if node.get("lastReason") in NOT_STARTED:
        parts.append(start_words(node.get("message")))
    elif node.get("lastExitCode"):
        ran_out = OUT_OF_MEMORY in (node.get("reason"), node.get("lastReason"))
        parts.append(exit_words(int(node["lastExitCode"]), out_of_memory=ran_out))
    elif node.get("message"):
        parts.append(f"does not run: {node['message']}")
    else:
        parts.append(f"does not run: {node['reason']}")
    restarts = int(node.get("restarts") or 0)
    if restarts:
        parts.append(f"it was restarted {restarts} {'time' if restarts == 1 else 'times'}")
    name = shown_name(node["role"], int(node["job"]), int(node["rank"]))
    return f"{name} {'; '.join(parts)}"
