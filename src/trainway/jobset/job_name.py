"""Names of jobs that are made from other words: a file, a function, the name of a task. Pure."""

import re
from typing import Final

_LONGEST_NAME: Final = 40
"""The longest name of a job: pods are called `<name>-<role>-<job>-<pod>`, which must stay within 63
characters."""


def job_name(text: str, shorter_by: int = 0) -> str:
    """A name that Kubernetes takes for a job, as near to the text as can be."""
    words = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    if not words[:1].isalpha():
        words = f"job-{words}" if words else "job"
    return words[: _LONGEST_NAME - shorter_by].rstrip("-")
