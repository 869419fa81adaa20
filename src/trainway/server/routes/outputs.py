"""What a job left and what it was made into: its attempts, files, and compiled objects."""

from pathlib import Path, PurePosixPath
from typing import Annotated, Final

from pydantic import Field
from starlette.responses import Response

from trainway.backends.capabilities import keeping_output
from trainway.backends.masking import masked_object
from trainway.backends.output_files import listed, opened_file
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.downloads import contents, download, pieces_of
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import CAUSES, Shown
from trainway.server.paths import BASE_PATH
from trainway.server.patience import read_patiently
from trainway.server.service import Service

_LONGEST: Final = 4096
PathText = Annotated[str, Query(max_length=_LONGEST)]


class OutputFile(Shown):
    """Something in a directory."""

    name: str
    kind: str = Field(description="`folder`, `file`, or `other`: a link or a pipe, never opened")
    size: int
    modified: str


class OutputListing(Shown):
    """A directory of the output of a job."""

    path: str
    items: list[OutputFile] = Field(description="directories first, then by name")
    complete: bool = Field(description="whether these are all")


class CompiledJob(Shown):
    """What runs."""

    job_set: Json
    objects: list[Json] = Field(description="what its pods read; values of Secrets hidden")


class Attempt(Shown):
    """One start of all of a job."""

    attempt: int = Field(description="from 0 on")
    start_time: str | None
    end_time: str | None
    seconds: float = Field(description="in which at least one of its pods ran")
    is_newest: bool
    node: str | None = Field(description="who failed first")
    exit_code: int | None
    cause: str = Field(description="why it ended, in a sentence; empty: nothing failed")
    reason: str | None = Field(description=f"why it ended, in one word: {CAUSES}")
    has_stacks: bool = Field(description="whether Python stacks of it are kept")


class AttemptList(Shown):
    """The attempts of a job, oldest first."""

    items: list[Attempt]


def add_output_routes(api: Api, service: Service) -> None:
    """The routes below /jobs that show files and compiled objects."""
    engine = service.engine

    async def output_of(ref: str) -> Path | None:
        """The directory; None, where the job has none yet."""
        record = await engine.reading.record(ref)
        if record.is_expired:
            raise NotFoundError(
                f"the files of {record.name} were removed when their retention time ended"
            )
        if not record.handle_data:
            return None
        backend = engine.registry.of(record.backend, record.handle_data)
        return keeping_output(backend).output(record.handle_data)

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/output", tags=["jobs"], response_model=OutputListing)
    async def listing(ref: str, path: PathText = "") -> Response:
        """List a directory of what the job wrote to its output."""
        output = await output_of(ref)
        if output is None:
            return JsonAnswer({"path": path, "items": [], "complete": True})
        found = await read_patiently(output, listed, output, path)
        items = [
            {
                "name": each.name,
                "kind": each.kind,
                "size": each.size,
                "modified": each.modified,
            }
            for each in found.entries
        ]
        return JsonAnswer({"path": path, "items": items, "complete": found.is_complete})

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/output/file", tags=["jobs"])
    async def file(ref: str, path: PathText) -> Response:
        """Save a file of the output."""
        output = await output_of(ref)
        if output is None:
            raise NotFoundError(f"there is no file {path!r}", field="path")
        opened, size = await read_patiently(output, opened_file, output, path)
        return download(pieces_of(contents(opened, size)), PurePosixPath(path).name)

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/attempts", tags=["jobs"], response_model=AttemptList)
    async def attempts(ref: str) -> Response:
        """Show when each attempt of a job ran, and why it ended."""
        found = await engine.reading.attempts(ref)
        kept = await engine.stacks.kept_attempts(ref)
        items = [{**each, "hasStacks": each["attempt"] in kept} for each in found]
        return JsonAnswer({"items": items})

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/compiled", tags=["jobs"], response_model=CompiledJob)
    async def compiled(ref: str) -> Response:
        """Show the JobSet that a job was compiled to, and what its pods read."""
        spec = await engine.reading.spec(ref)
        objects = [masked_object(obj) for obj in spec.companions]
        return JsonAnswer({"jobSet": spec.jobset, "objects": objects})
