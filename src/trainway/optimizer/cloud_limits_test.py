"""What clouds cannot give, and which request of a task that follows from."""

from dataclasses import dataclass

import pytest

from trainway.api.task.resources import read
from trainway.json_types import Json
from trainway.optimizer.cloud_limits import reason_against
from trainway.optimizer.request import request


@dataclass(frozen=True)
class Case:
    resources: Json
    cloud: str
    said: str | None


@pytest.mark.parametrize(
    "case",
    [
        Case({}, "lambda", None),
        Case({"disk_tier": "HIGH"}, "aws", None),
        Case({"disk_tier": "best"}, "lambda", "disk_tier best is not known to be there"),
        Case({"disk_tier": "ultra"}, "azure", "disk_tier ultra is not known to be there"),
        Case({"disk_size": 500}, "lambda", "disk_size cannot be chosen there"),
        Case({"disk_size": 256}, "lambda", None),
        Case({"disk_size": "20TB"}, "aws", "no disk there has 20480 GB; the largest has 16,384 GB"),
        Case({"disk_size": "20TB"}, "gcp", None),
        Case({"image_id": "ami-1a"}, "gcp", "image_id is an image of aws"),
        Case({"image_id": {"us-east-1": "ami-1a"}}, "gcp", "image_id is an image of aws"),
        Case({"image_id": "projects/p/global/images/i"}, "aws", "image_id is an image of gcp"),
        Case({"image_id": "docker:ubuntu:22.04"}, "gcp", None),
        Case({"image_id": "nvcr.io/nvidia/pytorch:24.01-py3"}, "gcp", None),
        Case({"labels": {"Team": "v"}}, "gcp", "it takes no label Team=v"),
        Case({"labels": {"Team": "v"}}, "aws", None),
        Case({"labels": {"aws:team": "v"}}, "aws", "it takes no label aws:team=v"),
    ],
    ids=lambda case: f"{case.cloud}-{case.resources}",
)
def test_a_cloud_is_left_out_for_what_it_cannot_do(case: Case) -> None:
    found = reason_against(case.cloud, request(read(case.resources).first, 1))
    assert (found or "").startswith(case.said or "")
    assert (found is None) == (case.said is None)


def test_images_of_regions_bind_a_task_to_them_and_those_of_containers_do_not() -> None:
    def regions(image: str | Json) -> set[str] | None:
        found = request(read({"image_id": image}).first, 1).regions
        return None if found is None else set(found)

    assert regions({"us-east-1": "ami-1", "us-west-2": "ami-2"}) == {"us-east-1", "us-west-2"}
    assert regions({"docker": "ubuntu", "us-east-1": "ami-1"}) == {"us-east-1"}
    assert regions({"us-east-1": "docker:ubuntu"}) is None
    assert regions({"docker": "ubuntu"}) is None
    assert regions("docker:ubuntu") is None
    assert regions("ami-1") is None
