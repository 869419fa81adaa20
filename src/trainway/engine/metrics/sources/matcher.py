"""Finds the numbers in lines: by the default pattern here, by another in a process of its own."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from trainway.engine.metrics.sources import pattern_process
from trainway.engine.metrics.sources.printed_numbers import printed_numbers

_AT_ONCE: Final = 100
"""The lines that are looked at before others have their turn."""
_LONGEST_S: Final = 300.0
"""How long an answer may take, on a machine however busy."""
_ANSWER_BYTES: Final = 1 << 26


class SlowPatternError(Exception):
    """The pattern takes too long for this line."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


class Matcher:
    """Finds numbers by one pattern; the empty one is the default."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._process: asyncio.subprocess.Process | None = None

    async def numbers(self, lines: Sequence[str]) -> list[Mapping[str, float]]:
        """The numbers of each line by name."""
        found: list[Mapping[str, float]] = []
        for start in range(0, len(lines), _AT_ONCE):
            some = lines[start : start + _AT_ONCE]
            if self._pattern:
                found += [dict(pairs) for pairs in await self._asked(some)]
            else:
                found += [printed_numbers(line) for line in some]
                await asyncio.sleep(0)
        return found

    async def _asked(self, lines: Sequence[str]) -> list[list[tuple[str, float]]]:
        process = self._process or await self._started()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - pipes
        process.stdin.write(json.dumps(lines).encode() + b"\n")
        async with asyncio.timeout(_LONGEST_S):
            answer = json.loads(await process.stdout.readline() or b"null")
        if answer is None:
            await self.close()
            raise OSError("the process for the pattern has ended")
        if "slow" in answer:
            raise SlowPatternError(answer["slow"])
        found: list[list[tuple[str, float]]] = answer["found"]
        return found

    async def _started(self) -> asyncio.subprocess.Process:
        program = (sys.executable, "-I", "-S", pattern_process.__file__)
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(
            *program, stdin=pipe, stdout=pipe, stderr=nowhere, limit=_ANSWER_BYTES
        )
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        self._process.stdin.write(json.dumps(self._pattern).encode() + b"\n")
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
