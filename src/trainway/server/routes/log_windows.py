"""Parts of a job's logs: windows anywhere in them, what is found there, and all as a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends.base import LogQuery
from trainway.backends.capabilities import keeping_log_files
from trainway.backends.logs.cursor import Cursor
from trainway.backends.logs.files import LogFile, log_files, time_text
from trainway.backends.logs.search import LONGEST_TEXT, Match, SearchResult, search
from trainway.backends.logs.window import (
    MOST_LINES,
    LogSelection,
    LogWindow,
    LogWindows,
    WindowLine,
    all_lines,
)
from trainway.engine.failure import shown_name
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.downloads import download, pieces_of
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import INT32, Shown
from trainway.server.moments import moment
from trainway.server.paths import BASE_PATH
from trainway.server.patience import read_patiently
from trainway.server.service import Service

_USUAL: Final = 500
_LONGEST_CURSOR: Final = 60_000


class LogChoice(BaseModel):
    """Which logs of a job."""

    model_config = ConfigDict(extra="forbid")

    role: str | None = Field(None, description="of one role only")
    job: int | None = Field(None, ge=0, lt=INT32, description="of one Job of each role only")
    rank: int | None = Field(None, ge=0, lt=INT32, description="of one pod of each Job only")
    attempt: int | None = Field(None, ge=0, lt=INT32, description="not given: the newest one")
    all_attempts: bool = False

    def selection(self) -> LogSelection:
        """The same for whoever reads."""
        return LogSelection(self.role, self.job, self.rank, self.attempt, self.all_attempts)


class WindowParameters(LogChoice):
    """Which lines: one of `before`, `after`, `at`, `time`, `around`; else the last ones."""

    lines: int = Field(_USUAL, ge=1, le=MOST_LINES, description="so many at most")
    after: str = Field("", max_length=_LONGEST_CURSOR, description="`end` of another window")
    before: str = Field("", max_length=_LONGEST_CURSOR, description="`start` of another window")
    at: float | None = Field(
        None, ge=0, le=1, description="behind this part of all bytes; 0: from the beginning"
    )
    time: str = Field("", max_length=100, description="from a time on, or a duration like `10m`")
    around: str = Field("", max_length=1_000, description="`id` of a line, which is in the middle")


class SearchParameters(LogChoice):
    """What to look for."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    after: str = Field("", max_length=1_000, description="`next` of the answer before")


class LogWindowLine(Shown):
    """A line."""

    id: str = Field(description="no other line of the job has it")
    node: str
    container: str
    attempt: int
    time: str
    stream: str
    text: str
    omitted: int = Field(0, description="how many bytes of a long line are not shown")
    partial: bool = Field(False, description="whether the next line of the stream goes on with it")


class LogWindowAnswer(Shown):
    """Lines in the order of time."""

    lines: list[LogWindowLine]
    start: str = Field(description="what is before them begins behind this: for `before`")
    end: str = Field(description="what follows them: for `after`")
    before: int = Field(description="how many bytes there are before the first line")
    behind: int = Field(description="how many bytes there are before the end of the last line")
    size: int = Field(description="how many bytes there are in all")


class LogMatch(Shown):
    """A line that has the text in it."""

    id: str = Field(description="for `around`")
    node: str
    attempt: int
    time: str
    text: str = Field(description="what is around the place")


class LogMatches(Shown):
    """What was found, by node and attempt."""

    items: list[LogMatch]
    next: str | None = Field(description="for `after`, where there is more to look at")
    searched: int = Field(description="how many bytes were looked at up to there")
    size: int = Field(description="how many bytes there are in all")


class LogFileEntry(Shown):
    """What one container wrote in one attempt."""

    node: str
    role: str
    job: int
    rank: int
    container: str
    attempt: int
    size: int


class LogFileList(Shown):
    """What can be chosen."""

    items: list[LogFileEntry]


@dataclass(frozen=True)
class _Logs:
    """The logs of one job."""

    job: str
    folder: Path | None
    """None: it has not come so far as to have any."""


def add_log_window_routes(api: Api, service: Service) -> None:
    """The routes below /jobs/REF/logs that answer at once."""
    engine, path = service.engine, f"{BASE_PATH}/jobs/{{ref}}/logs"

    async def logs_of(ref: str, choice: LogChoice) -> _Logs:
        await engine.reading.check_logs(ref, LogQuery(role=choice.role, rank=choice.rank))
        record = await engine.reading.record(ref)
        backend = engine.registry.of(record.backend, record.handle_data)
        kept = keeping_log_files(backend)
        return _Logs(
            record.name, kept.log_folder(record.handle_data) if record.handle_data else None
        )

    @api.get(f"{path}/files", tags=["logs"], response_model=LogFileList)
    async def files(ref: str) -> Response:
        """List which nodes and attempts have logs, and how much."""
        logs = await logs_of(ref, LogChoice())
        found = await read_patiently(ref, _files, logs.folder) if logs.folder else []
        return JsonAnswer({"items": found})

    @api.get(f"{path}/window", tags=["logs"], response_model=LogWindowAnswer)
    async def window(ref: str, wanted: Annotated[WindowParameters, Query()]) -> Response:
        """Some lines, anywhere in the logs; the last ones where nothing else is said."""
        _check_one(wanted)
        logs = await logs_of(ref, wanted)
        found = LogWindow([], Cursor().text(), Cursor().text(), 0, 0, 0)
        if logs.folder is not None:
            found = await read_patiently(logs.folder, _window, logs.folder, wanted)
        return JsonAnswer(_shown(found))

    @api.get(f"{path}/search", tags=["logs"], response_model=LogMatches)
    async def find(ref: str, wanted: Annotated[SearchParameters, Query()]) -> Response:
        """Look for a text in a part of the logs; `next` says where to go on."""
        logs = await logs_of(ref, wanted)
        found = SearchResult([], None, 0, 0)
        if logs.folder is not None:
            choice = wanted.selection()
            found = await read_patiently(
                logs.folder, search, logs.folder, choice, wanted.text, wanted.after
            )
        items = [_match(match) for match in found.matches]
        size = {"searched": found.searched, "size": found.size}
        return JsonAnswer({"items": items, "next": found.next, **size})

    @api.get(f"{path}/download", tags=["logs"])
    async def save(ref: str, choice: Annotated[LogChoice, Query()]) -> Response:
        """All chosen lines as a text file, each with its time and its node."""
        logs = await logs_of(ref, choice)
        lines = _text(logs.folder, choice.selection()) if logs.folder else iter(())
        return download(pieces_of(lines), f"{logs.job}.log", "text/plain; charset=utf-8")


def _check_one(wanted: WindowParameters) -> None:
    given = [
        name
        for name, is_given in (
            ("after", wanted.after), ("before", wanted.before), ("at", wanted.at is not None),
            ("time", wanted.time), ("around", wanted.around),
        )
        if is_given
    ]  # fmt: skip
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} cannot be given together", field=given[1])


def _window(folder: Path, wanted: WindowParameters) -> LogWindow:
    windows = LogWindows(folder, wanted.selection())
    if wanted.after:
        return windows.forwards(windows.offsets(Cursor.parse(wanted.after)), wanted.lines)
    if wanted.before:
        return windows.backwards(windows.offsets(Cursor.parse(wanted.before)), wanted.lines)
    if wanted.at is not None:
        return windows.forwards(windows.at_share(wanted.at), wanted.lines)
    if wanted.time:
        start = windows.at_time(time_text(moment(wanted.time, "time")))
        return windows.forwards(start, wanted.lines)
    if wanted.around:
        name, _, offset = wanted.around.rpartition(":")
        if not (offset.isascii() and offset.isdecimal() and len(offset) < 19):
            raise UsageError(f"not the id of a line: {wanted.around[:80]!r}", field="around")
        return windows.around(name, int(offset), wanted.lines)
    return windows.backwards(windows.ends, wanted.lines)


def _files(folder: Path) -> list[Json]:
    return [
        {
            "node": _node(file), "role": file.role, "job": file.job, "rank": file.rank,
            "container": file.container, "attempt": file.attempt, "size": file.size(),
        }
        for file in log_files(folder)
    ]  # fmt: skip


def _node(file: LogFile) -> str:
    return shown_name(file.role, file.job, file.rank)


def _shown(found: LogWindow) -> Json:
    return {
        "lines": [_line(line) for line in found.lines],
        "start": found.start,
        "end": found.end,
        "before": found.before,
        "behind": found.behind,
        "size": found.size,
    }


def _line(line: WindowLine) -> Json:
    more: Json = {"partial": True} if line.is_part else {}
    if line.length > len(line.text):
        more["omitted"] = line.length - len(line.text)
    return {
        "id": f"{line.file.name}:{line.begin}",
        "node": _node(line.file),
        "container": line.file.container,
        "attempt": line.file.attempt,
        "time": line.time,
        "stream": line.stream,
        "text": line.text.decode("utf-8", "replace"),
        **more,
    }


def _match(match: Match) -> Json:
    return {
        "id": f"{match.file.name}:{match.offset}",
        "node": _node(match.file),
        "attempt": match.file.attempt,
        "time": match.time,
        "text": match.text.decode("utf-8", "replace"),
    }


def _text(folder: Path, selection: LogSelection) -> Iterator[bytes]:
    for lines in all_lines(folder, selection):
        yield b"".join(
            b"%s %s %s\n" % (line.time.encode(), _node(line.file).encode(), line.text)
            for line in lines
        )
