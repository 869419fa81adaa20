"""What people and jobs write on a job for others to read: a note, and links to where it is shown.

Links are those of W&B, MLflow, TensorBoard and the like. Anybody may click on one, so only plain
web addresses are taken, and nothing that could steer a terminal or a page. Pure.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import LINKS, NOTE, REGISTERED_LINKS
from trainway.json_types import Json

MOST_LINKS: Final = 20
_URL_LIMIT: Final = 2_000
_NOTE_LIMIT: Final = 4_000
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", re.ASCII)
_URL: Final = re.compile(
    r"https?://[A-Za-z0-9\[][A-Za-z0-9.:_\[\]-]*(?:[/?#][!#-;=?-~]*)?", re.ASCII
)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def link_problem(name: object, url: object) -> str | None:
    """What is wrong with a link; None: nothing."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "the name of a link has 1 to 63 letters, digits, '-', '_' and '.'"
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        return f"the link {name} must begin with https:// or http://"
    if len(url) > _URL_LIMIT:
        return f"the link {name} has more than {_URL_LIMIT} characters"
    if "@" in url.split("/")[2]:
        return f"the link {name} must not have a user or a password"
    return None if _URL.fullmatch(url) else f"the link {name} is not a valid URL"


def links_problem(links: Mapping[Any, Any]) -> str | None:
    """What is wrong with all links of a job."""
    if len(links) > MOST_LINKS:
        return f"a job has at most {MOST_LINKS} links"
    return next(filter(None, (link_problem(name, url) for name, url in links.items())), None)


def note_problem(note: object) -> str | None:
    """What is wrong with a note."""
    if not isinstance(note, str):
        return "a note must be text"
    if len(note) > _NOTE_LIMIT:
        return f"a note has at most {_NOTE_LIMIT} characters"
    return "a note must not have control characters" if _CONTROL.search(note) else None


def merged_links(known: Mapping[str, str], reported: Mapping[Any, Any]) -> dict[str, str]:
    """The links of a job with those that it reports itself; what is wrong or too many is left."""
    links = dict(known)
    for name, url in reported.items():
        if link_problem(name, url) is None and (name in links or len(links) < MOST_LINKS):
            links[name] = url
    return links


def registered_links(job: Mapping[str, Any]) -> dict[str, str]:
    """The links that training code has registered on a TrainJob of a cluster."""
    annotations = job["metadata"].get("annotations") or {}
    return merged_links({}, _object(annotations.get(REGISTERED_LINKS)) or {})


def remarks_of(job: Mapping[str, Any] | None) -> tuple[Json, list[str]]:
    """The note and the links that a job's annotations have, and what is wrong with them."""
    metadata = (job or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    given = annotations if isinstance(annotations, dict) else {}
    found: Json = {}
    problems: list[str] = []
    if given.get(NOTE):
        found["note"] = given[NOTE]
        problems += _at(NOTE, note_problem(given[NOTE]))
    if given.get(LINKS):
        links = _object(given[LINKS])
        found["links"] = links
        problem = "it must be a JSON object of names and URLs" if links is None else None
        problems += _at(LINKS, problem or links_problem(links or {}))
    return found, problems


def _object(text: object) -> dict[Any, Any] | None:
    try:
        links = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return links if isinstance(links, dict) else None


def _at(annotation: str, problem: str | None) -> list[str]:
    return [f"metadata.annotations[{annotation}]: {problem}"] if problem else []
