"""Whom a line of the log is about, for whoever searches the log for one job.

What works on a job says so once (`about`), and every line that is logged meanwhile has the job's
fields, however deep in the program it is logged: a context variable carries them, into tasks too.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from types import MappingProxyType
from typing import Final

Fields = Mapping[str, str]

_NOBODY: Final[Fields] = MappingProxyType({})
_subject: Final[ContextVar[Fields]] = ContextVar("log_subject", default=_NOBODY)


def job_fields(job_id: str, name: str) -> Fields:
    """The fields of a job of the server."""
    return {"job_id": job_id, "job": name}


@contextmanager
def about(fields: Fields) -> Iterator[None]:
    """All that is logged within the block has these fields."""
    token = _subject.set({**_subject.get(), **fields})
    try:
        yield
    finally:
        _subject.reset(token)


def context_about(fields: Fields) -> Context:
    """A context for a task all of whose lines have these fields."""
    context = copy_context()
    context.run(_subject.set, {**_subject.get(), **fields})
    return context


def with_subject(record: logging.LogRecord) -> bool:
    """A filter for handlers: gives a record the fields that it does not have already."""
    for name, value in _subject.get().items():
        vars(record).setdefault(name, value)
    return True
