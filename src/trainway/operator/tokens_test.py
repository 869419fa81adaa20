import asyncio
from dataclasses import dataclass, field

import pytest

from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.compiler.framework import Framework
from trainway.compiler.plugins.progress import Progress, StatusEndpoint
from trainway.compiler.registry import built_in_plugins
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.json_types import Json
from trainway.kube.resources import TOKEN_REVIEWS, Resource
from trainway.operator.status_server import PATH
from trainway.operator.tokens import REMEMBER_SECONDS, Tokens, audience, bearer, is_granted
from trainway.operator.webhooks.testing import defaulted, runtime, trainjob

AUDIENCE = "trainer.kubeflow.org/v1alpha1/namespaces/ns/trainjobs/job/status"


def answer(
    user: str = "system:serviceaccount:ns:default",
    *,
    audiences: tuple[str, ...] = (AUDIENCE,),
    authenticated: object = True,
) -> Json:
    status = {"authenticated": authenticated, "audiences": audiences, "user": {"username": user}}
    return {"status": status}


@dataclass(frozen=True)
class Case:
    name: str
    review: Json
    is_granted: bool = False


CASES = [
    Case("good", answer(), is_granted=True),
    Case("other namespace", answer("system:serviceaccount:ns2:default")),
    Case("prefix of the namespace", answer("system:serviceaccount:ns-2:default")),
    Case("a person", answer("ns")),
    Case("other audience", answer(audiences=("https://kubernetes.default.svc",))),
    Case("no audience", answer(audiences=())),
    Case("not authenticated", answer(authenticated=False)),
    Case("not a truth value", answer(authenticated="true")),
    Case("nothing", {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_may_report(case: Case) -> None:
    assert is_granted(case.review, AUDIENCE, "ns") is case.is_granted


def test_the_audience_is_that_of_the_projected_token() -> None:
    assert audience("ns", "job") == AUDIENCE


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer abc", "abc"), ("bearer abc ", "abc"), ("Basic abc", ""), ("", ""), ("Bearer ", "")],
)
def test_the_token_of_a_header(header: str, token: str) -> None:
    assert bearer(header) == token


@dataclass
class Reviews:
    """Answers one token only."""

    now: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def create(self, resource: Resource, obj: Json) -> Json:
        assert resource is TOKEN_REVIEWS
        self.asked.append(obj["spec"]["token"])
        is_good = obj["spec"] == {"token": "good", "audiences": [AUDIENCE]}
        return answer() if is_good else answer(authenticated=False)


def test_a_good_answer_is_remembered_for_some_seconds_and_a_bad_one_is_not() -> None:
    reviews = Reviews()
    tokens = Tokens(reviews, lambda: reviews.now)

    def permits(token: str, name: str = "job") -> bool:
        return asyncio.run(tokens.permits(f"Bearer {token}", "ns", name))

    assert [permits("good"), permits("good"), permits("bad"), permits("bad")] == [
        *(True, True, False, False)
    ]
    assert reviews.asked == ["good", "bad", "bad"]
    assert not permits("good", "other")
    reviews.now = REMEMBER_SECONDS
    assert permits("good")
    assert reviews.asked[3:] == ["good", "good"]


def test_what_is_no_token_is_not_asked_about() -> None:
    reviews = Reviews()
    tokens = Tokens(reviews)
    for header in ("", "Basic x", "Bearer " + "x" * 20_000):
        assert not asyncio.run(tokens.permits(header, "ns", "job"))
    assert reviews.asked == []


def test_a_compiled_job_has_the_address_and_audience_that_the_server_expects() -> None:
    endpoint = StatusEndpoint("operator.system.svc", "PEM")
    target = Target(framework=Framework([*built_in_plugins(), Progress(endpoint)]))
    job = TrainJob.parse(defaulted(trainjob()))
    torch = ClusterTrainingRuntime.parse(defaulted(runtime()))
    (jobset,) = [
        obj for obj in compile_trainjob(job, torch, target).objects if obj["kind"] == "JobSet"
    ]
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (volume,) = pod["volumes"]
    token = volume["projected"]["sources"][0]["serviceAccountToken"]
    assert token["audience"] == audience("ns", "job")
    (url,) = [
        variable["value"]
        for variable in pod["containers"][0]["env"]
        if variable["name"] == "KUBEFLOW_TRAINER_SERVER_URL"
    ]
    path = PATH.format(namespace="ns", name="job")
    assert url == f"https://operator.system.svc:10443{path}"
