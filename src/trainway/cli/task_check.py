"""Tasks checked without the compiler of other kinds, whose imports take longer than the check."""

from collections.abc import Sequence

from trainway.api.task import task_object
from trainway.api.task.task_object import TaskJob
from trainway.cli.output import echo_line
from trainway.cli.refusal import RefusedError
from trainway.compiler.inputs import Input
from trainway.compiler.network import KubernetesNetwork
from trainway.compiler.task import compile_task, later
from trainway.compiler.task_pods import as_written
from trainway.json_types import Json


def check_tasks(inputs: Sequence[Input]) -> bool:
    """Check the inputs if they are tasks, and say what should be known; False: they are not."""
    tasks = [item for item in inputs if not task_object.is_task_secret(item.data)]
    key = (task_object.API_VERSION, task_object.KIND)
    if not all(item.type == key for item in tasks):
        return False
    refused: list[str] = []
    for item in tasks:
        head = f"{item.source}: {item.type[1]}/{item.name}"
        job, errors = task_object.read(item.data)
        refused += [f"{head}: {error}" for error in errors]
        if job is not None:
            jobset = compile_task(job, KubernetesNetwork).objects[0]
            refused += [f"{head}: {error}" for error in _pod_errors(job, jobset)]
            for warning in (*job.notes, *later(job.file.tasks)):
                echo_line(f"{head}: warning: {warning}")
    if refused:
        raise RefusedError(refused, exit_code=1)
    return True


def _pod_errors(job: TaskJob, jobset: Json) -> list[str]:
    """What is wrong with the pieces of pods in a task; without any there is nothing to look at."""
    if not any("pod_config" in (task.config.get("kubernetes") or {}) for task in job.file.tasks):
        return []
    from trainway.jobset.spec import JOBSET  # noqa: PLC0415 - the schema of a pod is large
    from trainway.schema.validation import validate  # noqa: PLC0415 - see above

    return [str(as_written(error)) for error in validate(JOBSET, jobset).errors]
