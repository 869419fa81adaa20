"""Drafts: a job that somebody writes, as a form and as text, checked before it is submitted."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.api.forms.job_form import FormKind, JobForm
from trainway.engine.submission import Submission
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service

if TYPE_CHECKING:
    from trainway.engine.draft_check import Checked

_LONGEST_TEXT: Final = 512_000
_LONGEST_CODE: Final = 100_000
_LONGEST_WORD: Final = 1_000
_MOST_VARIABLES: Final = 200
_MOST_NODES: Final = 100_000


class DraftForm(BaseModel):
    """The fields of a form; an empty one is not filled in."""

    model_config = ConfigDict(extra="forbid")

    kind: FormKind
    name: str = Field("", max_length=_LONGEST_WORD)
    namespace: str = Field("", max_length=_LONGEST_WORD)
    backend: str = Field("", max_length=_LONGEST_WORD)
    runtime: str = Field("", max_length=_LONGEST_WORD)
    image: str = Field("", max_length=_LONGEST_WORD)
    command: str = Field("", max_length=_LONGEST_CODE, description="of a task its `run`")
    setup: str = Field("", max_length=_LONGEST_CODE, description="of a task")
    code: str = Field("", max_length=_LONGEST_CODE, description="of a script: Python")
    nodes: int | None = Field(None, ge=0, le=_MOST_NODES, description="of an MPIJob its workers")
    processes: int | None = Field(None, ge=0, le=_MOST_NODES, description="of each node")
    mpi: str = Field("", max_length=_LONGEST_WORD, description="the implementation of MPI")
    cpu: str = Field("", max_length=_LONGEST_WORD)
    memory: str = Field("", max_length=_LONGEST_WORD)
    gpu: str = Field("", max_length=_LONGEST_WORD)
    queue: str = Field("", max_length=_LONGEST_WORD, description="a LocalQueue")
    env: dict[str, str] = Field({}, max_length=_MOST_VARIABLES)


class DraftDocument(Shown):
    """What a form becomes."""

    document: Json = Field(description="a manifest, or a task")


class DraftText(BaseModel):
    """A text to check."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST_TEXT, description="YAML or JSON")
    backend: str = Field(HERE, max_length=_LONGEST_WORD)
    rerun: str = Field(
        "",
        max_length=_LONGEST_WORD,
        description="the job in whose place it is submitted again; its backend counts",
    )


class DraftFinding(Shown):
    """Something wrong."""

    message: str
    path: str = Field(description="the field of the manifest; empty: it is about the whole")
    input: str = Field(description="the field of the form; empty: it is about none of them")
    line: int | None
    column: int | None


class DraftReport(Shown):
    """What came of a draft."""

    form: DraftForm | None = Field(description="none: it has more than a form can show")
    objects: list[Json] = Field(description="what to submit; empty where something is wrong")
    labels: dict[str, str] = Field(description="of who submits it, for the options")
    compiled: list[Json] = Field(description="what the backend is given; values of Secrets hidden")
    errors: list[DraftFinding]
    warnings: list[str]


class DraftStart(Shown):
    """A job as a draft that differs from it in nothing."""

    documents: list[Json] = Field(description="the job as it was written: a manifest, or tasks")
    form: DraftForm | None
    backend: str
    others: list[str] = Field(description="`KIND/NAME` of what goes with it as it was")


def add_draft_routes(api: Api, service: Service) -> None:
    """The routes below /drafts. None of them stores or starts anything."""
    engine = service.engine

    @api.post(f"{BASE_PATH}/drafts", tags=["drafts"], response_model=DraftDocument)
    async def document(body: DraftForm) -> Response:
        """The manifest that a form describes, whatever is wrong with it."""
        form = JobForm(**body.model_dump())
        return JsonAnswer({"document": await asyncio.to_thread(_document, form)})

    @api.post(f"{BASE_PATH}/drafts/check", tags=["drafts"], response_model=DraftReport)
    async def check(body: DraftText) -> Response:
        """Everything that is wrong with a text, or what it compiles to."""
        from trainway.engine import draft_check  # noqa: PLC0415 - the compiler, see `intake`

        draft = await asyncio.to_thread(draft_check.read, body.text)

        async def submitted() -> Submission:
            if not body.rerun:
                backend = body.backend or HERE
                return Submission(draft.objects, backend=backend, pipeline=draft.is_pipeline)
            return await engine.again(body.rerun, draft_check.replacing(draft_check.the_job(draft)))

        found = await draft_check.checked(draft, engine.registry, submitted)
        form = _form(draft.form, body.backend)
        labels = draft_check.labels_here()
        sent = {"objects": draft.objects, "labels": labels}
        return JsonAnswer({"form": form, **sent, **_report(found)})

    @api.get(f"{BASE_PATH}/drafts/from/{{ref}}", tags=["drafts"], response_model=DraftStart)
    async def start(ref: str) -> Response:
        """A job to be changed and submitted again."""
        from trainway.engine import draft_check  # noqa: PLC0415 - see above

        record = await engine.reading.record(ref)
        objects = await engine.reading.objects(record.id)
        documents, others = draft_check.opened(objects)
        form = draft_check.form_of(documents[0]) if len(documents) == 1 else None
        shown = {"documents": documents, "form": _form(form, record.backend)}
        return JsonAnswer({**shown, "backend": record.backend, "others": others})


def _document(form: JobForm) -> Json:
    from trainway.api.forms.table import document_of  # noqa: PLC0415 - the server starts sooner
    from trainway.runtimes import builtin_runtime  # noqa: PLC0415 - it brings YAML along

    return document_of(form, builtin_runtime)


def _form(form: JobForm | None, backend: str) -> Json | None:
    return None if form is None else {**asdict(form), "backend": backend}


def _report(found: "Checked") -> Json:
    errors = [
        {
            "message": item.message,
            "path": item.path,
            "input": item.input,
            "line": item.place[0] if item.place else None,
            "column": item.place[1] if item.place else None,
        }
        for item in found.findings
    ]
    return {"compiled": found.compiled, "errors": errors, "warnings": found.warnings}
