"""What a pod answers when it is asked for its stacks, in a shape that can be relied on. Pure.

The answer comes from where the job runs, and may be anything: what does not belong is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainway.engine.failure import shown_name
from trainway.json_types import Json

_PROCESSES: Final = 64
_THREADS: Final = 128
_FRAMES: Final = 128
_TEXT: Final = 300
_NOTES: Final = 8
_LARGEST_NUMBER: Final = 2**31
INSTALL: Final = "pip install 'trainway[debug]'"


def rank_view(place: Json, answer: Json) -> Json:
    """The stacks of one pod, as they are shown and kept."""
    processes = [_process(item) for item in _dicts(answer.get("processes"), _PROCESSES)]
    view = {**_identity(place), "processes": processes, "omitted": _number(answer.get("omitted"))}
    refused = [_text(item) for item in _list(answer.get("refused"), _NOTES) if _text(item)]
    problem = _problem(processes, refused)
    return {**view, **({"problem": problem} if problem else {}), **_hint(place, processes)}


def unreached(place: Json, why: str) -> Json:
    """A pod that could not be asked."""
    problem = f"its stacks could not be taken: {_text(why)}"
    return {
        **_identity(place),
        "processes": [],
        "omitted": 0,
        "problem": problem,
        "unreached": True,
    }


def _identity(place: Json) -> Json:
    role, replica, rank = str(place["role"]), int(place["replica"]), int(place["rank"])
    return {
        "node": shown_name(role, replica, rank),
        "role": role,
        "job": replica,
        "rank": rank,
        "host": str(place.get("host") or ""),
    }


def _problem(processes: Sequence[Json], refused: Sequence[str]) -> str:
    """Why something is missing; empty: nothing is."""
    if not processes:
        return "it has no Python process"
    if all("error" not in process for process in processes):
        return ""
    errors = [str(process["error"]) for process in processes if "error" in process]
    return "; ".join([*dict.fromkeys(errors), *refused])


def _hint(place: Json, processes: Sequence[Json]) -> Json:
    """What to do where py-spy is missing, or may not look."""
    failed = [process for process in processes if "error" in process]
    if not failed:
        return {}
    if any(process["hasPySpy"] for process in failed):
        return {
            "hint": "py-spy needs the right to read other processes: kernel.yama.ptrace_scope must "
            "be 0, or a container needs SYS_PTRACE"
        }
    if place.get("remote") or place.get("processes"):
        return {"hint": f"{INSTALL} on {place.get('host') or 'this machine'}"}
    return {"hint": "install py-spy in the image of the job"}


def _process(item: Mapping[str, Any]) -> Json:
    threads = [_thread(each) for each in _dicts(item.get("threads"), _THREADS)]
    found = {
        "pid": _number(item.get("pid")),
        "command": _text(item.get("command")),
        "method": _text(item.get("method")),
        "threads": threads,
    }
    if item.get("error"):
        found |= {"error": _text(item["error"]), "hasPySpy": bool(item.get("hasPySpy"))}
    return found


def _thread(item: Mapping[str, Any]) -> Json:
    return {
        "name": _text(item.get("name")),
        "main": item.get("main") is True,
        "active": item.get("active") is True,
        "frames": [
            {
                "function": _text(each.get("function")),
                "file": _text(each.get("file")),
                "line": _number(each.get("line")),
            }
            for each in _dicts(item.get("frames"), _FRAMES)
        ],
    }


def _dicts(value: object, most: int) -> list[Mapping[str, Any]]:
    return [item for item in _list(value, most) if isinstance(item, dict)]


def _list(value: object, most: int) -> list[object]:
    return value[:most] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value < _LARGEST_NUMBER else 0
