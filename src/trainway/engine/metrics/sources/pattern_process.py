"""Finds the numbers in lines by somebody's own pattern: a program, which the server starts.

A regular expression can take years for one line, and nothing else in its process happens meanwhile.
So it has a process of its own, in which a timer of the processor's time ends the search. The first
line of stdin is the pattern; each further one is a list of lines, answered by a list of pairs for
each of them, or by the line that took too long.
"""

import json
import re
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 0.5
"""Of the processor, that one line may take."""
MOST = 50
"""The numbers of a line that count."""


class SlowPatternError(Exception):
    """A line takes too long."""


def pairs_of(pattern: "re.Pattern[str]", line: str) -> "Iterator[tuple[str, float]]":
    """Names and numbers of a line: by the groups name and value, or each group by its name."""
    for match in pattern.finditer(line):
        groups = match.groupdict()
        if "name" in groups and "value" in groups:
            groups[groups.pop("name") or ""] = groups.pop("value")
        for name, text in groups.items():
            try:
                yield name, float(text or "")
            except ValueError:
                continue


def found_in(pattern: "re.Pattern[str]", line: str) -> "list[tuple[str, float]]":
    """The same, as a list that is ready within the time."""
    found = []
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        for pair in pairs_of(pattern, line):
            found.append(pair)
            if len(found) == MOST:
                break
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return found


def main() -> None:
    """Answer until nobody asks any more."""

    def on_time(*_: object) -> None:
        raise SlowPatternError

    signal.signal(signal.SIGVTALRM, on_time)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pattern = re.compile(json.loads(sys.stdin.readline()))
    for question in sys.stdin:
        answer: dict[str, object] = {}
        line = ""
        try:
            answer["found"] = found = []
            for line in json.loads(question):
                found.append(found_in(pattern, line))
        except SlowPatternError:
            answer["slow"] = line[:80]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
