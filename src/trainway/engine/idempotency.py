"""Requests that are repeated with the same key, and how they are told from others with that key.

What counts is what was sent, not what it is compiled to, which differs from one time to the next.
Pure.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Final

from trainway.engine.record import JobRecord
from trainway.engine.submission import Submission
from trainway.errors import ConflictError

_NOT_SENT: Final = ("key", "digest", "place", "kept", "prefer", "sets_up")


def identified(submission: Submission) -> Submission:
    """The submission with its digest, if it has a key by which it may be repeated."""
    return replace(submission, digest=_digest(submission)) if submission.key else submission


def refuse_other(record: JobRecord, submission: Submission) -> None:
    """Raise a ConflictError unless the job was made by the same request."""
    if record.request_digest is None or record.request_digest == submission.digest:
        return  # one that an older program made has none
    raise ConflictError(
        f"the idempotency key {submission.key!r} was already used for another request, which "
        f"created the job {record.name} ({record.id})",
        field="Idempotency-Key",
        hint="use a new key for each request, and repeat only identical requests",
    )


def _digest(submission: Submission) -> str:
    names = [field.name for field in fields(submission) if field.name not in _NOT_SENT]
    sent = {name: getattr(submission, name) for name in names}
    sent["objects"] = list(submission.objects)
    if not submission.queue:
        del sent["queue"]  # requests of clients that know no queues stay the same
    if submission.max_cost_each is None:
        del sent["max_cost_each"]
    if not submission.placement:
        del sent["placement"]  # nor places of tasks
    text = json.dumps(sent, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    """Mappings and sequences that are no dict or list."""
    match value:
        case Mapping():
            return dict(value)
        case Iterable():
            return list(value)
    raise TypeError(type(value).__name__)
