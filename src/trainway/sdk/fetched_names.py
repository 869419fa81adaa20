"""What the model and the data of a fine-tune are called where they come from.

Initializers put them into folders of the job, whose paths say nothing to those who get the tuned
model. So the job has the names as variables, and the program that tunes writes them down.
"""

from collections.abc import Mapping
from typing import Final

VARIABLES: Final = {"model": "TRAINWAY_MODEL_NAME", "dataset": "TRAINWAY_DATASET_NAME"}


def names_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The names that a job was told, by what has them."""
    found = {kind: environment.get(variable, "") for kind, variable in VARIABLES.items()}
    return {kind: name for kind, name in found.items() if name}
