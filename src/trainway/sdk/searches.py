"""Searches as somebody gives them: the options of `tune`, and OptimizationJobs in files."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.manifest import parse_manifests
from trainway.errors import ManifestError, UsageError
from trainway.jobset.labels import ALGORITHM, PRUNING
from trainway.json_types import Json
from trainway.optimization.request import KIND, checked, requested, split
from trainway.optimization.study import Algorithm, Pruning
from trainway.optimization.suggestion import suggest
from trainway.sdk.manifests import Wishes
from trainway.sdk.targets import checked_objects
from trainway.sweep.grid_option import parse_grid
from trainway.sweep.parameter import check_names
from trainway.sweep.space import KINDS, interval

PRUNE_WORDS: Final = {"median": Pruning.MEDIAN, "halving": Pruning.HALVING}
"""The words of `--prune`."""
_DIRECTIONS: Final = {"min": "Minimize", "max": "Maximize"}
_USUAL_TRIALS: Final = 20
_NAMELESS: Final = "search"


@dataclass(frozen=True)
class SearchOptions:
    """What `trainway tune` is asked for."""

    parameters: Sequence[str]
    """Each as `lr=log:1e-5:1e-1` or `bs=8,16,32`."""
    objective: str
    trials: int | None = None
    parallel: int | None = None
    algorithm: str = Algorithm.RANDOM
    prune: str | None = None
    seed: int | None = None


def search_of(options: SearchOptions) -> Json:
    """The search as the server takes it."""
    parameters: list[Json] = [
        {"name": name, "searchSpace": _space(name, values)}
        for name, values in parse_grid(options.parameters, _no_file, "--param").items()
    ]
    if not parameters:
        raise UsageError(
            "there is nothing to search", hint="add --param lr=log:1e-5:1e-1 or --param bs=8,16,32"
        )
    check_names(item["name"] for item in parameters)
    is_grid = options.algorithm == Algorithm.GRID
    trials = options.trials or (_combinations(parameters) if is_grid else _USUAL_TRIALS)
    seed = {} if options.seed is None else {"seed": options.seed}
    annotations = {}
    if options.algorithm == Algorithm.TPE:
        annotations[ALGORITHM] = str(options.algorithm)
    if options.prune is not None:
        annotations[PRUNING] = str(PRUNE_WORDS[options.prune])
    wanted: Json = {
        "spec": {
            "objectives": [_objective(options.objective)],
            "parameters": parameters,
            "searchAlgorithm": {"grid": {}} if is_grid else {"random": seed},
            "numTrials": trials,
            "parallelTrials": min(options.parallel or 1, trials),
        },
        "annotations": annotations,
    }
    requested(_NAMELESS, wanted)
    return wanted


def names_in(search: Json) -> list[str]:
    """The parameters of a search."""
    return [str(item["name"]) for item in search["spec"]["parameters"]]


def first_trials(search: Json) -> list[dict[str, str]]:
    """What would be tried first, if that does not depend on the run."""
    return [item.parameters for item in suggest(requested(_NAMELESS, search), [])]


def in_manifest(text: str, source: str, wishes: Wishes) -> tuple[list[Json], Json] | None:
    """The objects of a trial and the search that a manifest describes; None: it has none."""
    if KIND not in text:
        return None
    try:
        objects = parse_manifests(text)
    except ManifestError:
        return None  # whoever reads it next will say so
    jobs = [obj for obj in objects if obj.get("kind") == KIND]
    if not jobs:
        return None
    if len(jobs) > 1:
        raise UsageError(f"{source}: it contains {len(jobs)} searches", hint="submit one at a time")
    checked(jobs[0])
    trainjob, search = split(jobs[0])
    others = [obj for obj in objects if obj is not jobs[0]]
    return checked_objects([trainjob, *others], source, wishes), search


def _no_file(name: str) -> str:
    raise UsageError(f"@{name}: the values of --param cannot be in a file")


def _is_range(text: str) -> bool:
    """Whether a single value is a range, or was meant as one: it has two numbers at its end."""
    parts = text.split(":")
    return parts[0] in KINDS or (len(parts) in (2, 3) and all(map(_is_number, parts[-2:])))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _space(name: str, values: Sequence[str]) -> Json:
    text = values[0]
    if len(values) > 1 or not _is_range(text):
        return {"categorical": {"choices": list(values)}}
    found = interval(name, text)
    limits: dict[str, Any] = {"min": f"{found.low!r}", "max": f"{found.high!r}"}
    if found.kind == "int":
        limits = {"min": str(int(found.low)), "max": str(int(found.high)), "type": "Int"}
    return {"logUniform" if found.kind == "log" else "uniform": limits}


def _objective(text: str) -> Json:
    metric, _, word = text.partition(":")
    direction = _DIRECTIONS.get(word or "min")
    if not metric or direction is None:
        raise UsageError(
            f"--objective {text}: it must be a metric and which way is better",
            hint="write --objective loss:min or --objective accuracy:max",
        )
    return {"metric": metric, "direction": direction}


def _combinations(parameters: Sequence[Json]) -> int:
    """How many trials a grid has; one that has ranges is refused later."""
    lists = [(item["searchSpace"].get("categorical") or {}).get("choices") for item in parameters]
    return math.prod(len(values or ("",)) for values in lists)
