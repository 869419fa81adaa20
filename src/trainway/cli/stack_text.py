"""Stacks of a job for people. What a job wrote into them cannot steer the terminal."""

import re
from collections.abc import Iterator
from typing import Final

from trainway.json_types import Json

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def stack_text(stacks: Json) -> str:
    """All stacks, the innermost call of each thread first."""
    return "".join(f"{_CONTROL.sub(_escaped, line)}\n" for line in _lines(stacks))


def _escaped(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def _lines(stacks: Json) -> Iterator[str]:
    cause = ", taken because the job hung" if stacks["cause"] == "hang" else ""
    yield f"attempt {stacks['attempt'] + 1}, {stacks['time']}{cause}"
    for each in stacks["ranks"]:
        yield ""
        yield from _rank(each)
    if stacks["omitted"]:
        yield ""
        yield f"{stacks['omitted']} more pods were not asked"
    if stacks.get("problem"):
        yield ""
        yield stacks["problem"]


def _rank(each: Json) -> Iterator[str]:
    yield f"{each['node']} on {each['host']}" if each["host"] else each["node"]
    for process in each["processes"]:
        how = f" ({process['method']})" if process["method"] else ""
        yield f"  process {process['pid']}{how}: {process['command']}"
        for thread in process["threads"]:
            yield f"    {thread['name'] or 'thread'}{' (active)' if thread['active'] else ''}"
            for frame in thread["frames"]:
                yield f"      {frame['function']} ({frame['file']}:{frame['line']})"
    if each["omitted"]:
        yield f"  {each['omitted']} more processes are not shown"
    if each.get("problem"):
        yield f"  {each['problem']}"
    if each.get("hint"):
        yield f"  hint: {each['hint']}"
