"""The section of config.yaml about clusters."""

from dataclasses import dataclass

import pytest

from trainway.backends import configuration
from trainway.backends.kubernetes.section import initializer_images
from trainway.json_types import Json


@dataclass(frozen=True)
class Wrong:
    section: Json
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Wrong({"initializer_images": {"datasets": "a"}}, "kubernetes.initializer_images.datasets"),
        Wrong({"initializer_images": {"model": "a b"}}, "must be the name of an image"),
        Wrong({"initializer_images": {"model": ""}}, "must be the name of an image"),
        Wrong({"images": {}}, "kubernetes.images"),
    ],
)
def test_what_nobody_reads_is_refused(case: Wrong) -> None:
    (error,) = configuration.errors({"kubernetes": case.section})
    assert case.message in str(error)


def test_images_are_named_by_the_step_that_they_do() -> None:
    section = {"initializer_images": {"model": "registry.example:5000/model@sha256:0a"}}
    assert configuration.errors({"kubernetes": section}) == []
    assert initializer_images(section) == {
        "model-initializer": "registry.example:5000/model@sha256:0a"
    }
    assert initializer_images({}) == {}
