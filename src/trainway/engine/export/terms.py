"""Whether the output of a job can be exported as it asks, said when it is submitted."""

from collections.abc import Sequence
from importlib.util import find_spec

from trainway.api.export import export_of
from trainway.backends.base import Backend, Handle
from trainway.backends.capabilities import KeepsOutput
from trainway.backends.hand_over import HandsOver
from trainway.backends.output_bringing import BringsOutput
from trainway.data.exporter import checked_target
from trainway.engine.export.export import Export
from trainway.engine.submission import parted
from trainway.errors import TrainwayError, UsageError
from trainway.families.family import Runs
from trainway.families.table import family_of
from trainway.jobset.labels import EXPORT
from trainway.json_types import Json

_FIELD = f"metadata.annotations[{EXPORT}]"


def export_column(
    objects: Sequence[Json], backend: Backend, handle: Handle, below: str = ""
) -> str | None:
    """What the record of a new job has of its export; None: there is none.

    Jobs of a run are submitted with one URI; each has a folder of its own `below` it.
    """
    uri = export_of(parted(list(objects))[0])
    if not uri:
        return None
    try:
        target = str(checked_target(f"{uri.removesuffix('/')}/{below}" if below else uri))
    except TrainwayError as error:
        raise UsageError(error.message, field=_FIELD, hint=error.hint) from None
    reason = why_not(backend, handle)
    if reason:
        raise UsageError(
            f"the output cannot be exported: {reason}",
            field=_FIELD,
            hint="let the program itself write to the bucket, or run the job elsewhere",
        )
    if find_spec("obstore") is None:
        raise UsageError(
            "the server cannot write to buckets: obstore is not installed there",
            field=_FIELD,
            hint="pip install 'trainway[data]' and start the server anew",
        )
    return Export(target).column


def why_not(backend: Backend, handle: Handle) -> str:
    """Why the server does not have the output of a job; empty: it has."""
    if isinstance(backend, BringsOutput):
        return backend.why_not_brought(handle)
    if family_of(backend.name).runs is not Runs.PROCESSES or not isinstance(backend, KeepsOutput):
        return f"the output of a job on {backend.name} is not on the server"
    return backend.why_stays(handle) if isinstance(backend, HandsOver) else ""
