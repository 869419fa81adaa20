"""The order of the tasks of a file: how it is read, and each thing that is wrong with one."""

from dataclasses import dataclass

import pytest

from trainway.api.task import pipeline
from trainway.api.task.task import Task
from trainway.api.task.task_file import parse


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    error: str


def tasks(text: str) -> tuple[Task, ...]:
    file = parse(text).file
    assert file is not None
    return file.tasks


def test_without_depends_on_the_order_is_serial() -> None:
    found = tasks("name: a\nrun: x\n---\nrun: y\n---\nname: c\nrun: z")
    assert pipeline.dependencies(found) == {"a": (), "task-1": ("a",), "c": ("task-1",)}


def test_with_one_depends_on_the_others_begin_at_once() -> None:
    found = tasks("{name: a, depends_on: [c]}\n---\n{name: b}\n---\n{name: c, depends_on: []}")
    assert pipeline.dependencies(found) == {"a": ("c",), "b": (), "c": ()}


def test_an_output_is_replaced_where_it_stands() -> None:
    text = "envs: {D: '${tasks.a.output}/x'}\nsetup: ls ${tasks.a.output}\nrun: ${tasks.b.output}"
    found = tasks(f"name: a\nrun: x\n---\nname: b\n---\nname: c\ndepends_on: [a, b]\n{text}")[2]
    read = pipeline.reading(found, {"a": "/jobs/1/output"})
    assert read.envs == {"D": "/jobs/1/output/x"}
    assert (read.setup, read.run) == ("ls /jobs/1/output", "${tasks.b.output}")
    assert found.envs == {"D": "${tasks.a.output}/x"}


@pytest.mark.parametrize(
    "case",
    [
        Case("unknown", "{name: train, run: x}\n---\n{name: b, depends_on: [trian]}",
             'line 3, column 24: depends_on[0]: Invalid value: "trian": there is no such task; '
             'did you mean "train"?'),
        Case("alone", "{name: a, depends_on: [b]}",
             'line 1, column 24: depends_on[0]: Invalid value: "b": there is no such task'),
        Case("twice", "{name: a, run: x}\n---\n{name: a, depends_on: [a]}",
             'line 3, column 8: name: Duplicate value: "a"'),
        Case("circle", "{name: a, run: x}\n---\n{name: b, depends_on: [a, d]}\n---\n"
             "{name: c, depends_on: [b]}\n---\n{name: d, depends_on: [c]}",
             'line 3, column 23: depends_on: Invalid value: ["a","d"]: the tasks wait for each '
             "other: b -> d -> c -> b; remove one of these"),
        Case("itself", "{name: a, depends_on: [a]}\n---\n{name: b}",
             'line 1, column 23: depends_on: Invalid value: ["a"]: the tasks wait for each other: '
             "a -> a; remove one of these"),
        Case("no list", "{name: a, run: x}\n---\n{name: b, depends_on: a}",
             'line 3, column 23: depends_on: Invalid value: "a": must be a list'),
        Case("output of nobody", "run: x\n---\n{name: b, run: '${tasks.c.output}'}",
             'line 3, column 16: run: Invalid value: "${tasks.c.output}": there is no such task'),
        Case("output of a later task", "{name: a, run: 'ls ${tasks.b.output}'}\n---\n{name: b}",
             'line 1, column 16: run: Invalid value: "${tasks.b.output}": a does not come after b; '
             "add it to depends_on"),
        Case("group", "{name: g, execution: parallel}\n---\n{name: a, depends_on: [b]}\n---\n"
             "{name: b}",
             "line 3, column 11: depends_on: Forbidden: the tasks of a job group start together"),
        Case("output in a group", "{name: g, execution: parallel}\n---\n{name: a}\n---\n"
             "{name: b, run: 'ls ${tasks.a.output}'}",
             "line 5, column 11: run: Forbidden: a runs at the same time, and has no output before "
             "it ends"),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_what_is_wrong_between_tasks(case: Case) -> None:
    assert [str(error) for error in parse(case.text).errors] == [case.error]
