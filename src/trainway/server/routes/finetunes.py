"""The fine-tunes of this server."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from trainway.engine.job_filter import Filter, LabelTerm
from trainway.engine.jobs import Engine
from trainway.jobset.labels import FINETUNE
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.finetunes import finetune_view
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH


class FineTune(Shown):
    """A job that tunes a language model."""

    id: str = Field(description="that of its job")
    name: str
    created: str
    task: str = Field(description="`sft` or `dpo`")
    method: str = Field(description="`full`, `lora` or `qlora`")
    model: str = Field(description="what is tuned: a folder or a URI")
    dataset: str
    backend: str
    phase: str
    message: str
    start_time: str | None
    completion_time: str | None
    progress: Json | None = Field(description="the last report")
    output: str = Field(description="where the result is, or will be")
    export_state: str | None = Field(description="of a result that goes into a bucket")
    export_message: str | None


class FineTunePage(Shown):
    """Some fine-tunes, newest first."""

    items: list[FineTune]
    cursor: str | None = Field(description="where the next page begins")


def add_finetune_routes(api: Api, engine: Engine) -> None:
    """The route of the fine-tunes."""

    @api.get(f"{BASE_PATH}/finetunes", tags=["jobs"], response_model=FineTunePage)
    async def finetunes(
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        cursor: Annotated[str, Query(max_length=64)] = "",
    ) -> Response:
        """List the jobs that tune language models, newest first."""
        wanted = Filter(before=cursor, labels=[LabelTerm(FINETUNE, None)])
        page = await engine.reading.page(limit, wanted)
        items = [finetune_view(job) for job in page.items]
        return JsonAnswer({"items": items, "cursor": page.cursor})
