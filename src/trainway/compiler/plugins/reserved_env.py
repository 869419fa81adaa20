"""Variables that a runtime sets itself and a TrainJob may therefore not set."""

from collections.abc import Iterable, Iterator

from trainway.compiler.workload import Workload
from trainway.schema.field import FieldError, invalid

ENV_PATH = ("spec", "trainer", "env")


def reserved_env_errors(workload: Workload, reserved: Iterable[str]) -> Iterator[FieldError]:
    """One error that names all reserved variables the job sets."""
    names = {entry["name"] for entry in workload.settings.env}
    clashing = sorted(names & set(reserved))
    if clashing:
        found = " ".join(clashing)
        detail = f"must not have reserved envs, invalid envs configured: [{found}]"
        yield invalid(ENV_PATH, workload.settings.env, detail)
