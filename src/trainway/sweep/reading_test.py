"""What people write: `--grid` and sweep files."""

from dataclasses import dataclass

import pytest

from trainway.errors import UsageError
from trainway.sweep.grid_option import parse_grid
from trainway.sweep.sweep_file import parse_sweep


def read(name: str) -> str:
    return {"rates.txt": "\ufeff0.10\n\n1e-3\r\n"}[name]


def test_values_keep_their_text() -> None:
    grid = parse_grid(["lr=0.10,1e-3", "model=a=b", "file=@rates.txt"], read)
    assert grid == {"lr": ["0.10", "1e-3"], "model": ["a=b"], "file": ["0.10", "1e-3"]}


@pytest.mark.parametrize("option", ["lr", "=1", "lr="])
def test_an_option_without_values_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="must be a name and its values"):
        parse_grid([option], read)


def test_a_parameter_has_one_grid() -> None:
    with pytest.raises(UsageError, match="lr has --grid twice"):
        parse_grid(["lr=1", "lr=2"], read)


def test_a_file_has_every_kind_of_list() -> None:
    text = """
    grid: {lr: [0.10, 1e-3], wd: {file: rates.txt}}
    zip: {model: [small, yes], batch: [064, 0x10]}
    random: {trials: 2, seed: 7, parameters: {dropout: uniform:0:0.5, act: [relu]}}
    """
    trials = parse_sweep(text, "sweep.yaml", read).trials()
    assert len(trials) == 2 * 2 * 2 * 2
    assert {key: trials[0][key] for key in ("lr", "wd", "model", "batch", "act")} == {
        "lr": "0.10", "wd": "0.10", "model": "small", "batch": "064", "act": "relu",
    }  # fmt: skip
    assert trials[-1]["model"] == "yes"
    assert trials == parse_sweep(text, "sweep.yaml", read).trials()


@dataclass(frozen=True)
class Case:
    text: str
    problem: str


WRONG = {
    "no YAML": Case("grid: [", "s.yaml: line 2"),
    "no mapping": Case("- 1", "s.yaml: it is not a sweep"),
    "another section": Case("gird: {}", "s.yaml: gird is unknown"),
    "no list": Case("grid: {lr: 1}", "s.yaml: grid.lr must be a list"),
    "a list of lists": Case("zip: {lr: [[1]]}", "s.yaml: zip.lr must be a list"),
    "no section": Case("grid: 1", "s.yaml: grid must have parameters"),
    "no number of trials": Case("random: {parameters: {a: [1]}}", "random.trials must be a number"),
    "no trials": Case("random: {trials: 0, parameters: {a: [1]}}", "must be at least 1"),
    "too many trials": Case("random: {trials: 1001, parameters: {a: [1]}}", "1000 at most"),
    "no parameters": Case("random: {trials: 1}", "random.parameters must have"),
    "no range": Case("random: {trials: 1, parameters: {a: log:1}}", "not a range of values for a"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_file_that_is_wrong_says_where(case: Case) -> None:
    with pytest.raises(UsageError, match=case.problem):
        parse_sweep(case.text, "s.yaml", read)
