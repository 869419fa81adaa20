"""The decision of pipelines: as a table, and what holds for every pipeline however it goes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.phases import TERMINAL, Phase
from trainway.engine.run.pipeline import Decision, Pipeline, decide, told

CHAIN = Pipeline({"prepare": (), "train": ("prepare",), "test": ("train",)})
FORK = Pipeline({"prepare": (), "a": ("prepare",), "b": ("prepare",), "join": ("a", "b")})
P = Phase


@dataclass(frozen=True)
class Case:
    name: str
    pipeline: Pipeline
    phases: Mapping[str, Phase]
    start: frozenset[str] = frozenset()
    waits: Mapping[str, list[str]] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    "case",
    [
        Case("at first", CHAIN, {"prepare": P.PENDING, "train": P.PENDING, "test": P.PENDING},
             frozenset({"prepare"}), {"train": ["prepare"], "test": ["train"]}),
        Case("one runs", CHAIN, {"prepare": P.RUNNING, "train": P.QUEUED, "test": P.QUEUED},
             waits={"train": ["prepare"], "test": ["train"]}),
        Case("one is done", CHAIN, {"prepare": P.SUCCEEDED, "train": P.QUEUED, "test": P.QUEUED},
             frozenset({"train"}), {"test": ["train"]}),
        Case("one failed", CHAIN, {"prepare": P.FAILED, "train": P.QUEUED, "test": P.QUEUED},
             ends={"train": "prepare failed", "test": "prepare failed"}),
        Case("who failed is named also later", CHAIN,
             {"prepare": P.FAILED, "train": P.CANCELLED, "test": P.QUEUED},
             ends={"test": "prepare failed"}),
        Case("one was cancelled", CHAIN,
             {"prepare": P.SUCCEEDED, "train": P.CANCELLED, "test": P.QUEUED},
             ends={"test": "train was cancelled"}),
        Case("one was deleted", CHAIN, {"train": P.QUEUED, "test": P.QUEUED},
             ends={"train": "prepare was deleted", "test": "prepare was deleted"}),
        Case("who runs is not ended by what happened before", CHAIN,
             {"train": P.RUNNING, "test": P.QUEUED}, waits={"test": ["train"]}),
        Case("one that its owner holds keeps others waiting", CHAIN,
             {"prepare": P.FAILED, "train": P.PAUSED, "test": P.QUEUED}, waits={"test": ["train"]}),
        Case("two side by side", FORK,
             {"prepare": P.SUCCEEDED, "a": P.QUEUED, "b": P.QUEUED, "join": P.QUEUED},
             frozenset({"a", "b"}), {"join": ["a", "b"]}),
        Case("one branch failed", FORK,
             {"prepare": P.SUCCEEDED, "a": P.RUNNING, "b": P.FAILED, "join": P.QUEUED},
             ends={"join": "b failed"}),
        Case("all is over", FORK, dict.fromkeys(FORK.after, P.SUCCEEDED)),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_what_becomes_of_tasks(case: Case) -> None:
    assert decided(case.pipeline, case.phases) == Decision(case.start, case.waits, case.ends)


def decided(pipeline: Pipeline, phases: Mapping[str, Phase]) -> Decision:
    idle = [task for task, phase in phases.items() if phase in (P.PENDING, P.QUEUED)]
    return decide(pipeline, phases, idle)


def test_what_is_told() -> None:
    assert told(["a"]) == "it waits for a"
    assert told(["a", "b", "c"]) == "it waits for a, b and c"


def test_what_comes_after_a_task() -> None:
    assert FORK.since("a") == ["a", "join"]
    assert FORK.since("prepare") == ["prepare", "a", "b", "join"]
    assert Pipeline.stored(FORK.text()) == FORK


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    """Any order without a circle, in any order of the file."""
    names = [f"t{number}" for number in range(draw(st.integers(1, 8)))]
    after = {
        name: tuple(draw(st.lists(st.sampled_from(names[:rank]), unique=True))) if rank else ()
        for rank, name in enumerate(names)
    }
    shuffled = draw(st.permutations(names))
    return Pipeline({name: after[name] for name in shuffled})


@given(pipelines(), st.data())
def test_no_task_starts_too_early_and_every_task_ends(
    pipeline: Pipeline, data: st.DataObject
) -> None:
    phases = dict.fromkeys(pipeline.after, P.PENDING)
    for _ in range(3 * len(phases) + 1):
        found = decided(pipeline, phases)
        for task in found.start:
            assert all(phases[name] == P.SUCCEEDED for name in pipeline.after[task])
            phases[task] = P.RUNNING
        for task, why in found.ends.items():
            culprit = why.partition(" ")[0]
            assert phases[culprit] in (P.FAILED, P.CANCELLED)
            phases[task] = P.CANCELLED
        for task, others in found.waits.items():
            assert others
            assert set(others) <= set(pipeline.after[task])
        running = [task for task, phase in phases.items() if phase == P.RUNNING]
        if running:
            ending = data.draw(st.sampled_from(running))
            phases[ending] = data.draw(st.sampled_from([P.SUCCEEDED, P.FAILED, P.CANCELLED]))
    assert set(phases.values()) <= TERMINAL


@dataclass(frozen=True)
class Stage:
    task: str
    expected: tuple[int, int]


@pytest.mark.parametrize(
    "case",
    [Stage("a", (0, 3)), Stage("b", (1, 3)), Stage("c", (0, 2)), Stage("d", (2, 3))],
    ids=lambda case: case.task,
)
def test_where_a_task_stands_in_its_pipeline(case: Stage) -> None:
    diamond = Pipeline({"a": [], "b": ["a"], "c": [], "d": ["b", "c"]})
    assert diamond.stage(case.task) == case.expected
