"""What the scheduler says about a pod that fits nowhere, in fewer words. Pure.

0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu.
none of 3 nodes fits: 2 have too little nvidia.com/gpu, 1 is cordoned
"""

import re
from collections.abc import Callable
from typing import Final

_MESSAGE: Final = re.compile(r"0/(?P<nodes>\d+) nodes are available:\s*(?P<why>.*)", re.DOTALL)
_AFTERTHOUGHT: Final = re.compile(
    r"[.;]\s*(?:preemption:|no new claims to deallocate).*", re.DOTALL
)
_PART: Final = re.compile(r"(?P<count>\d+) (?P<reason>.+)", re.DOTALL)
_NODES: Final = re.compile(r"^node\(s\) ")
_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<name>[^"]+)" (?P<what>.+)')

_Words = Callable[[re.Match[str], bool], str]


def _verb(one: str, many: str) -> _Words:
    return lambda _found, is_one: one if is_one else many


def _taint(found: re.Match[str], is_one: bool) -> str:
    key, _, value = found[1].partition(":")
    taint = f"{key.strip()}={value.strip()}" if value.strip() else key.strip()
    return f"{'has' if is_one else 'have'} the taint {taint}"


_PHRASES: Final[tuple[tuple[re.Pattern[str], _Words], ...]] = (
    (
        re.compile(r"Insufficient (\S+)"),
        lambda found, is_one: f"{'has' if is_one else 'have'} too little {found[1]}",
    ),
    (re.compile(r"Too many pods"), _verb("has no room for a pod", "have no room for a pod")),
    (re.compile(r"node\(s\) were unschedulable"), _verb("is cordoned", "are cordoned")),
    (re.compile(r"node\(s\) had untolerated taint(?:\(s\))? ?\{(.*)\}"), _taint),
    (
        re.compile(r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)"),
        _verb("has a taint", "have taints"),
    ),
    (
        re.compile(r"node\(s\) didn't match Pod's node affinity(?:/selector)?"),
        _verb("does not match the node selector", "do not match the node selector"),
    ),
)


def condensed(message: str) -> str:
    """The reason in words."""
    text = " ".join(message.split())
    claim = _CLAIM.search(text)
    if claim:
        what = "does not exist" if "not found" in claim["what"] else claim["what"].rstrip(".")
        return f"the PersistentVolumeClaim {claim['name']} {what}"
    found = _MESSAGE.fullmatch(text)
    if found is None:
        return text
    why = _AFTERTHOUGHT.sub("", found["why"]).rstrip(". ")
    nodes = int(found["nodes"])
    if nodes == 0:
        return "the cluster has no nodes"
    head = "the only node does not fit" if nodes == 1 else f"none of {nodes} nodes fits"
    parts = [_part(part, is_alone=nodes == 1) for part in why.split(", ")] if why else []
    parts.sort(key=lambda part: -part[0])
    return f"{head}: {', '.join(text for _, text in parts)}" if parts else head


def _part(text: str, *, is_alone: bool) -> tuple[int, str]:
    """How many nodes, and what is wrong with them."""
    match = _PART.fullmatch(text)
    if match is None:
        return 0, text
    count = int(match["count"])
    words = _worded(match["reason"], is_one=count == 1)
    return count, words if is_alone else f"{count} {words}"


def _worded(reason: str, *, is_one: bool) -> str:
    for pattern, words in _PHRASES:
        found = pattern.fullmatch(reason)
        if found:
            return words(found, is_one)
    return _NODES.sub("", reason)
