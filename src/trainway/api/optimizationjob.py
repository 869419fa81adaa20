"""OptimizationJob: a search over hyperparameters, where each trial is a TrainJob."""

from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import Field

from trainway.api.constraints import SET, Int32, Int64, Kube, Rules, crd_default, map_by, pattern
from trainway.api.model import Condition, Model, Resource
from trainway.api.rules import count_given, exactly_one_of, immutable
from trainway.api.trainjob import TrainJobSpec
from trainway.json_types import Json
from trainway.schema.structural import Rule


def _number(text: object) -> float | None:
    """The number that a limit stands for; None if it is none, which its pattern reports."""
    try:
        return float(str(text))
    except ValueError:
        return None


def _in_order(value: dict[str, Any], _old: object) -> bool:
    low, high = _number(value.get("min")), _number(value.get("max"))
    return low is None or high is None or low < high


def _positive(value: dict[str, Any], _old: object) -> bool:
    low = _number(value.get("min"))
    return low is None or low > 0


def _grid_is_categorical(value: dict[str, Any], _old: object) -> bool:
    algorithm = value.get("searchAlgorithm") or {}
    spaces = [parameter["searchSpace"] for parameter in value["parameters"]]
    return not count_given(algorithm, ("grid",)) or all(
        count_given(space, ("categorical",)) for space in spaces
    )


_MIN_BELOW_MAX = Rule(
    "double(self.min) < double(self.max)", "min must be strictly less than max", _in_order
)
_MIN_POSITIVE = Rule("double(self.min) > 0.0", "min must be strictly greater than 0", _positive)
_NO_IDENTITY = Rule(
    "!has(self.name) && !has(self.namespace)",
    "name and namespace cannot be set in a template.",
    lambda value, _old: count_given(value, ("name", "namespace")) == 0,
)
_TRIALS_IN_ORDER = Rule(
    "self.parallelTrials <= self.numTrials",
    "parallelTrials cannot exceed numTrials",
    lambda value, _old: value["parallelTrials"] <= value["numTrials"],
)
_GRID_NEEDS_CHOICES = Rule(
    "!has(self.searchAlgorithm.grid) || self.parameters.all(p, has(p.searchSpace.categorical))",
    "Grid search requires all parameters to be Categorical; Uniform and LogUniform are not"
    " supported.",
    _grid_is_categorical,
)

Label = Annotated[str, MinLen(1), MaxLen(64)]
Limit = Annotated[
    str,
    MinLen(1),
    MaxLen(64),
    pattern(r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"),
]
Trials = Annotated[Int32, Ge(1), Le(100)]


class Objective(Model):
    """A metric to optimize."""

    metric: Label
    """Name of the metric."""
    direction: Literal["Maximize", "Minimize"] = "Minimize"
    """Which way is better."""


class RandomSearch(Model):
    """Tries values at random."""

    seed: Int64 | None = None
    """Makes the choice of values repeatable."""


class GridSearch(Model):
    """Tries all combinations."""


class SearchAlgorithm(Model):
    """How the next values are chosen."""

    rules: ClassVar[tuple[Rule, ...]] = (exactly_one_of("random", "grid"),)

    random: RandomSearch | None = None
    """Tries values at random."""
    grid: GridSearch | None = None
    """Tries all combinations; needs a list of choices for each parameter."""


class UniformSpace(Model):
    """Numbers of a range, all equally likely."""

    rules: ClassVar[tuple[Rule, ...]] = (_MIN_BELOW_MAX,)

    min: Limit
    """The lowest number, as text."""
    max: Limit
    """The highest number, as text."""
    type: Literal["Int", "Float"] = "Float"
    """What the numbers are."""


class LogUniformSpace(UniformSpace):
    """Numbers of a range whose logarithms are equally likely."""

    rules: ClassVar[tuple[Rule, ...]] = (_MIN_POSITIVE, _MIN_BELOW_MAX)


class CategoricalSpace(Model):
    """A list of choices."""

    choices: Annotated[list[Annotated[str, MaxLen(64)]], SET, MinLen(1), MaxLen(100)]
    """The values to choose from."""


class SearchSpace(Model):
    """The values that a parameter may take."""

    rules: ClassVar[tuple[Rule, ...]] = (exactly_one_of("uniform", "logUniform", "categorical"),)

    uniform: UniformSpace | None = None
    """Numbers of a range, all equally likely."""
    log_uniform: LogUniformSpace | None = None
    """Numbers of a range whose logarithms are equally likely."""
    categorical: CategoricalSpace | None = None
    """A list of choices."""


class Parameter(Model):
    """A hyperparameter to search for."""

    name: Label
    """Name of the hyperparameter."""
    search_space: SearchSpace
    """The values that it may take."""


class TrainJobTemplate(Model):
    """The TrainJob that each trial is."""

    metadata: Annotated[Json, Kube("EmbeddedObjectMeta"), Rules(_NO_IDENTITY)] | None = None
    """Labels and annotations of the TrainJobs."""
    spec: TrainJobSpec
    """What to train, how, and on which runtime."""


class OptimizationJobSpec(Model):
    """What to search for and how."""

    rules: ClassVar[tuple[Rule, ...]] = (
        immutable("OptimizationJobSpec is immutable and cannot be updated after creation"),
        _TRIALS_IN_ORDER,
        _GRID_NEEDS_CHOICES,
    )

    objectives: Annotated[list[Objective], map_by("metric"), MinLen(1), MaxLen(1)]
    """The metric to optimize."""
    search_algorithm: Annotated[SearchAlgorithm, crd_default({"random": {}})] = Field(
        default_factory=lambda: SearchAlgorithm(random=RandomSearch())
    )
    """How the next values are chosen."""
    parameters: Annotated[list[Parameter], map_by("name"), MinLen(1), MaxLen(100)]
    """The hyperparameters to search for."""
    num_trials: Trials = 1
    """How many trials there are."""
    parallel_trials: Trials = 1
    """How many trials run at the same time."""
    train_job_template: TrainJobTemplate
    """The TrainJob that each trial is."""


class ParameterAssignment(Model):
    """The value that a hyperparameter had."""

    name: Label
    """Name of the hyperparameter."""
    value: Label
    """Its value."""


class Result(Model):
    """The best trial."""

    train_job_name: Annotated[str, MinLen(1), MaxLen(63)]
    """Name of its TrainJob."""
    parameters: Annotated[list[ParameterAssignment], map_by("name"), MaxLen(100)] = Field(
        default_factory=list
    )
    """The values it had."""


class OptimizationJobStatus(Model):
    """How the search stands."""

    conditions: Annotated[
        list[Annotated[Condition, Kube("Condition")]], map_by("type"), MaxLen(100)
    ] = Field(default_factory=list)
    """What is known about the search."""
    result: Result | None = None
    """The best trial."""


class OptimizationJob(Resource):
    """A search over hyperparameters, where each trial is a TrainJob."""

    spec: OptimizationJobSpec
    """What to search for and how."""
    status: OptimizationJobStatus | None = None
    """How the search stands."""
