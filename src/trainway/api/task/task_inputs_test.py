from trainway.api.task.task_inputs import input_place, with_inputs
from trainway.api.task.task_object import Brought, read
from trainway.json_types import Json

TASK: Json = {
    "kind": "Task",
    "metadata": {"name": "p-two"},
    "spec": {"tasks": [{"task": {"run": "ls"}}]},
}
OTHER: Json = {"kind": "Secret", "metadata": {"name": "p-two-files"}}


def contents(objects: list[Json]) -> dict[str, object]:
    """The values of files by their places, as pods find them."""
    (task,) = (obj for obj in objects if obj["kind"] == "Task")
    job, errors = read(task)
    assert job is not None, errors
    maps = [obj for obj in objects if obj["kind"] == "ConfigMap"]
    assert [obj["metadata"]["name"] for obj in maps] == ([job.files_name] if job.files else [])
    return {file.path: maps[0]["binaryData"][file.key] for file in job.files}


def test_inputs_are_files_that_travel() -> None:
    made = with_inputs([OTHER, TASK], {input_place("one", "a/b"): "eA=="})
    assert contents(made) == {"0/inputs/one/a/b": "eA=="}
    assert OTHER in made


def test_they_stand_beside_other_files_and_are_replaced() -> None:
    own = Brought("0/workdir/x")
    task = {**TASK, "files": [{"path": own.path, "isProgram": True}]}
    task["spec"] = {**TASK["spec"], "filesName": "p-two-files"}
    files = {"kind": "ConfigMap", "metadata": {"name": "p-two-files"}}
    given = [{**files, "binaryData": {own.key: "b3du"}}, task]
    first = with_inputs(given, {input_place("one", "old"): "", input_place("zero", "x"): ""})
    again = with_inputs(first, {input_place("one", "new"): {"$file": "0" * 64, "size": 3}})
    assert contents(again) == {
        "0/workdir/x": "b3du",
        "0/inputs/one/new": {"$file": "0" * 64, "size": 3},
    }
    (task,) = (obj for obj in again if obj["kind"] == "Task")
    assert [item["isProgram"] for item in task["files"]] == [True, False]
    task["metadata"] = {"name": "p-two-again"}
    assert contents(with_inputs(again, {})) == {"0/workdir/x": "b3du"}
    assert contents(with_inputs([TASK], {})) == {}
