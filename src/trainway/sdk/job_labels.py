"""Labels that are given with a job: `team=nlp`. They stand on the object itself.

So they travel wherever the job goes, and are found in a cluster by its own means. Pure.
"""

from collections.abc import Mapping, Sequence

from trainway.errors import UsageError
from trainway.jobset.label_syntax import label_problem
from trainway.json_types import Json
from trainway.sdk.job_metadata import pairs, with_metadata


def parse_labels(texts: Sequence[str]) -> dict[str, str]:
    """The labels that `KEY=VALUE` texts mean; the last one of a key counts."""
    return pairs("--label", texts, "value", "VALUE")


def labelled(objects: Sequence[Json], labels: Mapping[str, str]) -> list[Json]:
    """The objects, with the labels on the job among them; those of its own of that key give way."""
    for key, value in labels.items():
        problem = label_problem(key, value)
        if problem is not None:
            raise UsageError(f"the label {key}={value} cannot be set: {problem}", field="labels")
    return with_metadata(objects, "labels", labels)
