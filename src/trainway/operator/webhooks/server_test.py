import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import aiohttp
import orjson

from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.json_types import Json
from trainway.kube.errors import ServerUnavailable
from trainway.operator.listener import listening
from trainway.operator.webhooks import testing
from trainway.operator.webhooks.paths import MUTATE_TRAINJOB, VALIDATE_MPIJOB, VALIDATE_TRAINJOB
from trainway.operator.webhooks.review import Question
from trainway.operator.webhooks.server import webhook_app
from trainway.operator.webhooks.testing import message, patch, patch_of, trainjob
from trainway.operator.webhooks.trainjob import Facts
from trainway.telemetry.logs_testing import json_lines

T = TypeVar("T")


class Answers:
    """Gives facts one after another, and counts what is observed."""

    def __init__(self, *facts: Facts | Exception) -> None:
        self.facts_left = list(facts)
        self.observed: list[tuple[str, bool]] = []
        self.answered: list[tuple[str, int]] = []

    async def facts(self, question: Question, job: TrainJob) -> Facts:
        assert question.object["metadata"]["name"] == job.metadata.name
        answer = self.facts_left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def webhook_answered(self, path: str, code: int, seconds: float) -> None:
        assert seconds >= 0
        self.answered.append((path, code))

    def reviewed(self, kind: str, *, allowed: bool) -> None:
        self.observed.append((kind, allowed))


Post = Callable[[str, bytes], Awaitable[tuple[int, bytes]]]


def served(answers: Answers, use: Callable[[Post], Awaitable[T]]) -> T:
    """Run something against the application, over HTTP."""

    async def main() -> T:
        app = webhook_app(answers, lambda: datetime(2026, 11, 15, tzinfo=UTC), answers)
        async with (
            listening(app, "127.0.0.1", 0) as port,
            aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
        ):

            async def post(path: str, body: bytes) -> tuple[int, bytes]:
                async with session.post(path, data=body) as response:
                    return response.status, await response.read()

            return await use(post)

    return asyncio.run(main())


def ask(answers: Answers, path: str, obj: Json) -> Json:
    request = {"uid": "u", "operation": "CREATE", "object": testing.defaulted(obj)}

    async def use(post: Post) -> Json:
        status, body = await post(path, orjson.dumps({"request": request}))
        assert status == 200
        answer: Json = orjson.loads(body)
        return answer

    return served(answers, use)


def runtime(**more: Any) -> ClusterTrainingRuntime:
    return ClusterTrainingRuntime.parse(testing.defaulted(testing.runtime(**more)))


NEEDS_EXTRA = trainjob(initializer={"dataset": {"storageUri": "hf://a/b"}})


def test_a_job_is_judged_by_the_runtime_that_was_found() -> None:
    obj = testing.runtime()
    jobs = obj["spec"]["template"]["spec"]["replicatedJobs"]
    mounts = [{"name": "initializer", "mountPath": "/data"}]
    container = {"name": "dataset-initializer", "image": "i", "volumeMounts": mounts}
    template = {"spec": {"template": {"spec": {"containers": [container]}}}}
    jobs.append({"name": "dataset-initializer", "template": template})
    answers = Answers(Facts(ClusterTrainingRuntime.parse(testing.defaulted(obj))))
    assert message(ask(answers, VALIDATE_TRAINJOB, NEEDS_EXTRA)) == ""
    assert answers.observed == [("TrainJob", True)]


def test_a_job_that_its_runtime_does_not_take_is_refused() -> None:
    answers = Answers(Facts(runtime()))
    nameless = trainjob(initializer={"dataset": {}})
    assert "must have dataset-initializer job" in message(ask(answers, VALIDATE_TRAINJOB, nameless))
    assert answers.observed == [("TrainJob", False)]


def test_a_cluster_that_cannot_be_read_is_an_internal_error() -> None:
    answers = Answers(ServerUnavailable("no answer from https://k"))
    status = ask(answers, VALIDATE_TRAINJOB, trainjob())["response"]["status"]
    assert (status["code"], status["message"]) == (500, "no answer from https://k")


def test_the_log_says_which_object_could_not_be_reviewed() -> None:
    job = trainjob()
    job["metadata"] |= {"namespace": "team", "name": "demo"}
    with json_lines("trainway.operator.webhooks") as lines:
        ask(Answers(ServerUnavailable("no answer")), VALIDATE_TRAINJOB, job)
    said = [(line["level"], line["kind"], line["namespace"], line["job"]) for line in lines]
    assert said == [("warning", "TrainJob", "team", "demo")]


def test_a_defect_of_ours_is_answered_too() -> None:
    answers = Answers(ZeroDivisionError())
    status = ask(answers, VALIDATE_TRAINJOB, trainjob())["response"]["status"]
    assert (status["code"], status["message"]) == (500, "internal error: ZeroDivisionError")


def test_patches_are_stamped_with_the_time_of_the_clock() -> None:
    answer = ask(Answers(), MUTATE_TRAINJOB, trainjob(runtimePatches=[patch_of("a.io/x")]))
    assert [operation["value"] for operation in patch(answer)] == ["2026-11-15T00:00:00Z"]


def test_mpijobs_have_their_own_path() -> None:
    answers = Answers()
    assert "slotsPerWorker" in message(
        ask(answers, VALIDATE_MPIJOB, testing.mpijob(slotsPerWorker=-1))
    )
    assert answers.observed == [("MPIJob", False)]


def test_what_is_no_review_gets_400() -> None:
    async def use(post: Post) -> list[int]:
        return [(await post(path, b"{}"))[0] for path in (VALIDATE_TRAINJOB, "/elsewhere")]

    answers = Answers()
    assert served(answers, use) == [400, 404]
    assert [code for _, code in answers.answered] == [400]
