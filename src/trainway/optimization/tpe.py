"""The Tree-structured Parzen Estimator: a study of Optuna, made anew from the trials each time.

The values depend on the seed, the index and what the other trials reported, and on nothing that
is kept in between.
"""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Final

from trainway.errors import UsageError
from trainway.optimization.latin_hypercube import latin_hypercube
from trainway.optimization.random_search import drawn
from trainway.optimization.space import Choices, FloatRange, IntRange, Space
from trainway.optimization.study import Study
from trainway.optimization.trial import Trial, TrialState, number_of

_STARTUP: Final = 8
"""So many trials are spread evenly before the others learn from them, or two thirds of all."""


def tpe(
    study: Study, trials: Sequence[Trial], indices: Sequence[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """The values of new trials; each knows of those before it."""
    if indices and find_spec("optuna") is None:  # said before the first trial, not after some
        raise UsageError(
            "the algorithm tpe needs Optuna, which is not installed",
            hint="install trainway[optimize] where the search runs, or use the algorithm random",
        )
    startup = min(_STARTUP, max(study.trials * 2 // 3, 1))
    known = list(trials)
    for index in indices:
        if index < startup:
            found = latin_hypercube(study, startup, index)
        elif not any(_is_measured(trial) for trial in known):
            found = drawn(study, index)
        else:
            found = _suggested(study, known, index)
        known.append(Trial(index, "", found))
        yield index, found


def _suggested(study: Study, trials: Sequence[Trial], index: int) -> dict[str, str]:
    optuna = _optuna()
    spaces = {name: _distribution(optuna, space) for name, space in study.spaces.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=_number(f"{study.seed}/{index}"),
            n_startup_trials=1,
            multivariate=True,
            constant_liar=True,
        )
    direction = "maximize" if study.maximize else "minimize"
    rebuilt = optuna.create_study(sampler=sampler, direction=direction)
    for trial in trials:
        made = _made(optuna, study, trial, spaces)
        if made is not None:
            rebuilt.add_trial(made)
    values = rebuilt.ask(spaces).params
    return {name: _text(study.spaces[name], values[name]) for name in study.spaces}


def _optuna() -> Any:
    import optuna  # noqa: PLC0415 - slow, and an extra

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _made(optuna: Any, study: Study, trial: Trial, spaces: dict[str, Any]) -> Any:
    """A trial as Optuna has it; None for one that says nothing."""
    try:
        params = {
            name: _value(space, trial.parameters[name]) for name, space in study.spaces.items()
        }
    except (KeyError, ValueError):
        return None  # somebody changed its annotation
    states = optuna.trial.TrialState
    if trial.is_active:
        return optuna.trial.create_trial(state=states.RUNNING, params=params, distributions=spaces)
    if trial.measured is None or trial.state is TrialState.FAILED:
        return None
    if trial.state is TrialState.PRUNED:
        last = trial.history[-1].step if trial.history else 0
        return optuna.trial.create_trial(
            state=states.PRUNED,
            params=params,
            distributions=spaces,
            value=trial.measured,
            intermediate_values={int(last): trial.measured},
        )
    return optuna.trial.create_trial(params=params, distributions=spaces, value=trial.measured)


def _is_measured(trial: Trial) -> bool:
    return trial.state is TrialState.SUCCEEDED and trial.measured is not None


def _distribution(optuna: Any, space: Space) -> Any:
    kinds = optuna.distributions
    match space:
        case FloatRange():
            return kinds.FloatDistribution(space.low, space.high, log=space.is_log)
        case IntRange():
            return kinds.IntDistribution(space.low, space.high, log=space.is_log)
        case Choices():
            return kinds.CategoricalDistribution(tuple(space.values))


def _value(space: Space, text: str) -> Any:
    if isinstance(space, Choices):
        return text
    number = number_of(text)
    if number is None or not space.low <= number <= space.high:
        raise ValueError(text)
    return int(number) if isinstance(space, IntRange) else number


def _text(space: Space, value: Any) -> str:
    return str(value) if isinstance(space, Choices) else space.text(value)


def _number(seed: str) -> int:
    """A seed as numpy takes it."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4])
