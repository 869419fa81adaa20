"""A job that may run in several places, from a program."""

import pytest

from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.sdk import Client
from trainway.sdk.testing import FakeServer

TRAIN: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


def test_a_choice_of_places_is_left_to_the_server(fake: FakeServer) -> None:
    client = Client()
    fake.places.fits = {"ssh/lab": "now", "local": "later"}
    client.run(TRAIN, on="local,ssh/lab")
    client.run(TRAIN, on="any", prefer="order")
    asked = [body for _, path, body in fake.requests if path.endswith("/placements")]
    assert [body["prefer"] for body in asked] == ["order", "order"]
    sent = [body for _, path, body in fake.requests if path.endswith("/jobs")]
    assert [body["options"]["backend"] for body in sent] == ["ssh/lab", "ssh/lab"]
    fake.places.fits = {"local": "never"}
    with pytest.raises(InvalidError, match="no place takes the job"):
        client.run(TRAIN, on="any")
    with pytest.raises(UsageError, match="'luck' is not a preference"):
        client.run(TRAIN, on="any", prefer="luck")
