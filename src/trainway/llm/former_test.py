import json
from pathlib import Path

import pytest

from trainway.llm.checkpoints import mark_complete, path_of
from trainway.llm.configuration import Task, configured
from trainway.llm.former import RESULT, another, learned, note

WORDS = ("model=/m", "dataset=/d", "max_steps=10")


def asked(*words: str, task: Task = Task.SFT) -> dict[str, object]:
    return learned(task, configured({}, [*WORDS, *words], ""))


@pytest.mark.parametrize(
    ("words", "differs"),
    [
        ((), ""),
        (("micro_batch=1", "attention=sdpa", "save_steps=2", "output=/elsewhere"), ""),
        (("max_steps=20",), "max_steps was 10 and is 20"),
        (("dataset=/e",), "dataset was /d and is /e"),
        (("columns.prompt=q",), 'columns was {} and is {"prompt": "q"}'),
        (("learning_rate=1e-4",), "learning_rate was not set and is 0.0001"),
    ],
)
def test_the_result_of_another_fine_tune_is_not_taken_for_this_ones(
    words: tuple[str, ...], differs: str, tmp_path: Path
) -> None:
    (tmp_path / RESULT).write_text(json.dumps({"settings": asked()}))
    said = another(asked(*words), tmp_path, 1)
    assert said == (differs and f"{tmp_path} has the result of another fine-tune: {differs}")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": 1}', '{"settings": {}}'])
def test_a_result_that_does_not_say_is_taken_as_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / RESULT).write_text(text)
    assert another(asked(), tmp_path, 1) == ""


def test_checkpoints_of_other_data_or_of_another_task_are_not_gone_on_from(tmp_path: Path) -> None:
    assert another(asked(), tmp_path, 1) == ""
    note(asked(), tmp_path)
    other = asked("dataset=/e")
    assert another(other, tmp_path, 1) == ""  # there is no checkpoint yet
    checkpoint = path_of(tmp_path / "checkpoints", 5)
    checkpoint.mkdir()
    mark_complete(checkpoint, 1)
    begun = f"{tmp_path} has checkpoints of another fine-tune: "
    assert another(other, tmp_path, 1) == f"{begun}dataset was /d and is /e"
    assert another(asked(task=Task.DPO), tmp_path, 1) == f"{begun}task was sft and is dpo"
    assert another(asked("max_steps=20", "learning_rate=1e-5"), tmp_path, 1) == ""
    assert another(other, tmp_path, 2) == ""  # which are not used by two processes
    (tmp_path / "checkpoints" / "settings.json").unlink()  # of an older version
    assert another(other, tmp_path, 1) == ""
