"""A note and links on a job: given with it, as annotations of its object, or written later."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainway.errors import UsageError
from trainway.jobset.job_remarks import links_problem, note_problem
from trainway.jobset.labels import LINKS, NOTE
from trainway.json_types import Json
from trainway.sdk.job_metadata import pairs, with_metadata
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment


def parse_links(texts: Sequence[str]) -> dict[str, str]:
    """The links that `NAME=URL` texts mean; the last one of a name counts."""
    return pairs("--link", texts, "URL", "https://...")


def remarked(objects: Sequence[Json], note: str | None, links: Mapping[str, str]) -> list[Json]:
    """The objects, with the note and the links on the job among them."""
    problem = (note_problem(note) if note else None) or links_problem(links)
    if problem is not None:
        raise UsageError(problem, field="links" if links_problem(links) else "note")
    annotations = {NOTE: note} if note else {}
    if links:
        annotations[LINKS] = json.dumps(dict(links))
    return with_metadata(objects, "annotations", annotations)


def write(rest: Rest, ref: str, body: Mapping[str, Any]) -> Json:
    """Write a note or links on a job; the job as it is then."""
    job: Json = rest.transport.request("PATCH", f"/jobs/{segment(ref)}", body=body)
    return job
