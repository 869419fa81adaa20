"""A pipeline as submissions: what each task is, and what it takes to find out."""

from unittest.mock import patch

from trainway.api.task import task_object
from trainway.engine.run.pipeline_testing import pipeline
from trainway.engine.run.tasks import tasks_of
from trainway.jobset.labels import TASK


def test_tasks_that_read_no_output_are_not_parsed_one_by_one() -> None:
    names = [f"t{rank}" for rank in range(20)]
    submission = pipeline("\n---\n".join(f"name: {name}\nrun: echo" for name in names))
    with patch.object(task_object, "read", wraps=task_object.read) as read:
        assert [each.labels[TASK] for each in tasks_of(submission)] == names
    assert read.call_count == 2, "for the order of the file, and for its parts"
