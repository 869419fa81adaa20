import pytest

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.job_labels import labelled, parse_labels


def test_labels_stand_on_the_job_alone() -> None:
    secret: Json = {"kind": "Secret", "metadata": {"name": "s"}}
    job: Json = {"kind": "Task", "metadata": {"name": "a", "labels": {"team": "x", "b": "c"}}}
    given = parse_labels(["team=y", "team=nlp", "stage="])
    changed = labelled([secret, job], given)
    assert changed[0] is secret
    assert changed[1]["metadata"] == {
        "name": "a",
        "labels": {"team": "nlp", "b": "c", "stage": ""},
    }
    assert job["metadata"]["labels"]["team"] == "x"


def test_a_label_that_cannot_be_set_is_refused() -> None:
    with pytest.raises(UsageError, match="--label team: the value is missing"):
        parse_labels(["team"])
    with pytest.raises(UsageError, match="the label team=n l p cannot be set: the value 'n l p'"):
        labelled([], {"team": "n l p"})
    with pytest.raises(UsageError, match="reserved"):
        labelled([], {"trainway.dev/array": "1"})
