"""Feature gates: what a person turns on or off by name, in the file or with `--feature-gates`.

The names and the rules are those of Kubernetes: `AllAlpha` and `AllBeta` stand for all of a kind,
and a gate that is named itself wins over them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from trainway.operator.config import FeatureGates
from trainway.schema.field import FieldError, Path, invalid

ALPHA: Final = {"TrainJobStatus": "train_job_status"}
_GROUPS: Final = ("AllAlpha", "AllBeta")
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def unknown_gates(values: Mapping[str, bool], path: Path) -> Iterator[FieldError]:
    """An error for each gate that does not exist."""
    for name in values:
        if name not in ALPHA and name not in _GROUPS:
            known = ", ".join([*ALPHA, *_GROUPS])
            yield invalid(
                (*path, name), name, f"unrecognized feature gate; the known ones are {known}"
            )


def gates(values: Mapping[str, bool]) -> FeatureGates:
    """The gates, of which unknown ones are left out."""
    default = values.get("AllAlpha")
    chosen = {attribute: values.get(name, default) for name, attribute in ALPHA.items()}
    return FeatureGates(**{name: value for name, value in chosen.items() if value is not None})


def parse_gates(text: str) -> tuple[dict[str, bool], list[FieldError]]:
    """The pairs of `A=true,B=false`, and what is wrong with them."""
    values: dict[str, bool] = {}
    errors: list[FieldError] = []
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            errors.append(invalid(("--feature-gates",), pair, "must be NAME=true or NAME=false"))
        elif value not in _TRUE | _FALSE:
            errors.append(invalid(("--feature-gates", name), value, "must be true or false"))
        else:
            values[name] = value in _TRUE
    return values, [*errors, *unknown_gates(values, ("--feature-gates",))]
