"""A note and links on a job: given with it, as annotations of its object, or written later."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainway.errors import UsageError
from trainway.jobset.job_remarks import links_problem, note_problem
from trainway.jobset.labels import LINKS, NOTE
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment

_KINDS = (*JOB_KINDS, "Task")


def parse_links(texts: Sequence[str]) -> dict[str, str]:
    """The links that `NAME=URL` texts mean; the last one of a name counts."""
    found: dict[str, str] = {}
    for text in texts:
        name, has_url, url = text.partition("=")
        if not has_url:
            raise UsageError(f"--link {text}: the URL is missing", hint=f"write {text}=https://...")
        found[name] = url
    return found


def remarked(objects: Sequence[Json], note: str | None, links: Mapping[str, str]) -> list[Json]:
    """The objects, with the note and the links on the job among them."""
    problem = (note_problem(note) if note else None) or links_problem(links)
    if problem is not None:
        raise UsageError(problem, field="links" if links_problem(links) else "note")
    if not note and not links:
        return list(objects)
    return [_with(obj, note, links) if obj.get("kind") in _KINDS else obj for obj in objects]


def write(rest: Rest, ref: str, body: Mapping[str, Any]) -> Json:
    """Write a note or links on a job; the job as it is then."""
    job: Json = rest.transport.request("PATCH", f"/jobs/{segment(ref)}", body=body)
    return job


def _with(obj: Json, note: str | None, links: Mapping[str, str]) -> Json:
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get("annotations")
    annotations = dict(known) if isinstance(known, dict) else {}
    if note:
        annotations[NOTE] = note
    if links:
        annotations[LINKS] = json.dumps(dict(links))
    return {**obj, "metadata": {**given, "annotations": annotations}}
