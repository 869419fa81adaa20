"""Reads files of jobs for an answer: a disk that does not answer is not waited for for ever."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from trainway.backends.job_threads import job_threads
from trainway.errors import UnavailableError

_PATIENCE_S: Final = 60.0
_P = ParamSpec("_P")
_T = TypeVar("_T")


async def read_patiently(
    folder: Path | str, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """What a function gives that reads in a folder."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await job_threads.run(function, *args, **kwargs)
    except TimeoutError:
        raise UnavailableError(f"the disk of {folder} does not answer") from None
