"""The types of the kubeflow SDK's optimizer, with its names and fields."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from trainway.sdk.kubeflow.types.types import UNKNOWN, TrainJob


class Direction(Enum):
    """Which way is better."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class Distribution(Enum):
    """How likely the numbers of a range are."""

    UNIFORM = "uniform"
    LOG_UNIFORM = "logUniform"


@dataclass
class ContinuousSearchSpace:
    """Numbers between two limits."""

    min: float | int
    max: float | int
    distribution: Distribution


@dataclass
class CategoricalSearchSpace:
    """A list of values."""

    choices: list[Any]


SearchSpace = ContinuousSearchSpace | CategoricalSearchSpace


class Search:
    """Makes the search space of a parameter."""

    @staticmethod
    def uniform(min: float, max: float) -> ContinuousSearchSpace:  # noqa: A002 - the SDK's names
        """Give numbers between two limits, all equally likely."""
        return ContinuousSearchSpace(min, max, Distribution.UNIFORM)

    @staticmethod
    def loguniform(min: float, max: float) -> ContinuousSearchSpace:  # noqa: A002 - as above
        """Give numbers between two limits whose logarithms are equally likely."""
        return ContinuousSearchSpace(min, max, Distribution.LOG_UNIFORM)

    @staticmethod
    def choice(values: list[Any]) -> CategoricalSearchSpace:
        """Give one value of a list."""
        return CategoricalSearchSpace([str(value) for value in values])


@dataclass
class GridSearch:
    """Tries all combinations; all parameters must be choices."""

    @property
    def algorithm_name(self) -> str:
        """As Katib names it."""
        return "grid"


@dataclass
class RandomSearch:
    """Tries values at random; the same state tries the same values."""

    random_state: int | None = None

    @property
    def algorithm_name(self) -> str:
        """As Katib names it."""
        return "random"


@dataclass
class Objective:
    """The metric to optimize."""

    metric: str = "loss"
    direction: Direction = Direction.MINIMIZE

    def __post_init__(self) -> None:
        self.direction = Direction(self.direction)


@dataclass
class TrialConfig:
    """How many trials there are, and how many at a time."""

    num_trials: int = 10
    parallel_trials: int = 1
    max_failed_trials: int | None = None


@dataclass
class Metric:
    """What a trial reported of a metric."""

    name: str
    min: str
    max: str
    latest: str


@dataclass
class Result:
    """The best values, and what the trial with them reported."""

    parameters: dict[str, str]
    metrics: list[Metric]


@dataclass
class Trial:
    """One trial of a search."""

    name: str
    parameters: dict[str, str]
    trainjob: TrainJob
    metrics: list[Metric] = field(default_factory=list)


@dataclass
class OptimizationJob:
    """A search over hyperparameters."""

    name: str
    search_space: dict[str, SearchSpace]
    objectives: list[Objective]
    algorithm: GridSearch | RandomSearch
    trial_config: TrialConfig
    trials: list[Trial]
    creation_timestamp: datetime
    status: str = UNKNOWN
