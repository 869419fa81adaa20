"""What `config.yaml` says of all clusters. Pure.

kubernetes:
  initializer_images:
    dataset: registry.example/team/dataset-initializer:1
    model: registry.example/team/model-initializer:1
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.compiler.workload import DATASET_INITIALIZER, MODEL_INITIALIZER
from trainway.schema.field import FieldError, Path
from trainway.schema.shape import Record, Text

NAME: Final = "kubernetes"
_IMAGES: Final = "initializer_images"
_STEPS: Final = {"dataset": DATASET_INITIALIZER, "model": MODEL_INITIALIZER}
_IMAGE: Final = Text(r"[^\s:]\S*", "must be the name of an image")
SHAPE: Final = Record({_IMAGES: Record(dict.fromkeys(_STEPS, _IMAGE))})


def errors(section: Mapping[str, Any], path: Path) -> Iterator[FieldError]:  # noqa: ARG001 - see sections
    """Nothing beyond the shape of it."""
    yield from ()


def initializer_images(section: Mapping[str, Any]) -> dict[str, str]:
    """The images that take the place of upstream's, by the step that they do."""
    named = section.get(_IMAGES) or {}
    return {step: str(named[name]) for name, step in _STEPS.items() if name in named}
