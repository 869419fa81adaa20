"""The order of the tasks of a file: how it is read, and each thing that is wrong with one."""

import tracemalloc
from dataclasses import dataclass

import pytest

from trainway.api.task import pipeline
from trainway.api.task.task import Task
from trainway.api.task.task_file import parse
from trainway.json_types import Json


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
        Case("misspelt output", "{name: a.b, run: x}\n---\n"
             "{name: c, run: 'ls ${tasks.a.b.outputs}'}",
             'line 3, column 16: run: Invalid value: "${tasks.a.b.outputs}": of a task there is '
             "only its output: ${tasks.a.b.output}"),
        Case("output without its end", "{name: a, run: x}\n---\n"
             "{name: c, setup: 'ls ${tasks.a.output /'}",
             'line 3, column 18: setup: Invalid value: "${tasks.a.output": of a task there is '
             "only its output: ${tasks.a.output}"),
        Case("a task itself", "{name: a, run: x}\n---\n{name: c, envs: {D: '${tasks.a}'}}",
             'line 3, column 21: envs.D: Invalid value: "${tasks.a}": of a task there is '
             "only its output: ${tasks.a.output}"),
        Case("output in a secret", "{name: a, run: x}\n---\n"
             "{name: c, secrets: {S: '${tasks.a.output}'}}",
             "line 3, column 11: secrets: Forbidden: the output of another task can be named in "
             "envs, setup and run only"),
        Case("output as workdir", "{name: a, run: x}\n---\n{name: c, workdir: '${tasks.a.output}'}",
             "line 3, column 11: workdir: Forbidden: the output of another task can be named in "
             "envs, setup and run only"),
        Case("output as file", "{name: a, run: x}\n---\n"
             "{name: c, file_mounts: {/d: '${tasks.a.output}/x'}}",
             "line 3, column 11: file_mounts: Forbidden: the output of another task can be named "
             "in envs, setup and run only"),
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


def test_what_names_no_task_is_left_alone() -> None:
    text = "{name: a, run: x}\n---\n{name: b, run: 'node -e \"`${tasks.length}`\"'}"
    assert list(pipeline.errors(tasks(text))) == []


def in_a_row(length: int, first_waits_for: list[str]) -> tuple[Task, ...]:
    rows: list[Json] = [{"name": "t0", "depends_on": first_waits_for}]
    rows += [{"name": f"t{rank}", "depends_on": [f"t{rank - 1}"]} for rank in range(1, length)]
    return tuple(Task(row, row, row) for row in rows)


def test_many_tasks_in_a_row_are_checked_in_one_go() -> None:
    found = in_a_row(2_000, [])
    tracemalloc.start()
    try:
        assert list(pipeline.errors(found)) == []
        assert tracemalloc.get_traced_memory()[1] < 4 << 20, "it kept all ways through the file"
    finally:
        tracemalloc.stop()


def test_of_a_long_circle_a_part_is_shown() -> None:
    ((rank, error),) = pipeline.errors(in_a_row(2_000, ["t1999"]))
    assert rank == 0
    assert error.detail == (
        "the tasks wait for each other: t0 -> t1999 -> t1998 -> t1997 -> t1996 -> t1995 -> "
        "(1,991 more) -> t3 -> t2 -> t1 -> t0; remove one of these"
    )


def test_a_circle_is_found_among_tasks_that_only_wait_for_it() -> None:
    text = "{name: a, depends_on: [b]}\n---\n{name: b, depends_on: [c]}\n---\n"
    text += "{name: c, depends_on: [b]}"
    (error,) = parse(text).errors
    assert "the tasks wait for each other: b -> c -> b; remove one" in str(error)
