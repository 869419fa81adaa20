from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.kubernetes.form import (
    JOBSET_API,
    MPIJOB_API,
    TRAINJOB_API,
    Form,
    Offer,
    apis_of,
    choose,
)
from trainway.compiler.elasticity import with_elasticity
from trainway.compiler.restarts import with_max_restarts
from trainway.data.flight.objects import CacheSpec, cache_objects
from trainway.errors import UsageError
from trainway.jobset.labels import KUBERNETES_FORM, MAX_RESTARTS, MIN_NODES
from trainway.json_types import Json

EVERYTHING = frozenset({"batch/v1", JOBSET_API, MPIJOB_API, TRAINJOB_API})
TORCH = ("ClusterTrainingRuntime", "torch")
OURS = ("TrainingRuntime", "ours")


def job(kind: str, ref: Json | None = None, **metadata: Any) -> Json:
    spec = {"runtimeRef": ref} if ref else {}
    return {"kind": kind, "metadata": {"name": "x", **metadata}, "spec": spec}


@dataclass(frozen=True)
class Case:
    name: str
    source: Json
    form: Form
    apis: frozenset[str] = EVERYTHING
    submitted: list[Json] = field(default_factory=list)
    forced: str = ""
    followed: frozenset[str] = frozenset()


TRAINJOB = job("TrainJob", {"name": "torch"})
RESTARTS = with_max_restarts(TRAINJOB, 0)
ELASTIC = with_elasticity(TRAINJOB, 2, 4)
CACHE = cache_objects(CacheSpec("demo", "s3://b/t", 2, "image"))[-1]
EVERYTHING_AND_GROUPS = EVERYTHING | {"leaderworkerset.x-k8s.io/v1"}


@pytest.mark.parametrize(
    "case",
    [
        Case("TrainJob", TRAINJOB, Form.SOURCE),
        Case("MPIJob", job("MPIJob"), Form.SOURCE),
        Case("JobSet", job("JobSet"), Form.JOBSET),
        Case("cache", CACHE, Form.GROUP, EVERYTHING_AND_GROUPS),
        Case("cache without LeaderWorkerSet", CACHE, Form.JOBSET),
        Case(
            "cache, LeaderWorkerSet only", CACHE, Form.GROUP, EVERYTHING_AND_GROUPS - {JOBSET_API}
        ),
        Case("cache, forced JobSet", CACHE, Form.JOBSET, EVERYTHING_AND_GROUPS, forced="jobset"),
        Case("no cache", job("JobSet"), Form.JOBSET, EVERYTHING_AND_GROUPS),
        Case("no TrainJobs", TRAINJOB, Form.JOBSET, frozenset({JOBSET_API})),
        Case("no MPIJobs", job("MPIJob"), Form.JOBSET, frozenset({JOBSET_API, TRAINJOB_API})),
        Case("no JobSets", job("JobSet"), Form.JOBS, frozenset({"batch/v1"})),
        Case("unknown runtime", job("TrainJob", {"name": "own"}), Form.JOBSET),
        Case("own runtime", job("TrainJob", {"kind": OURS[0], "name": "ours"}), Form.SOURCE),
        Case(
            "runtime comes along",
            job("TrainJob", {"kind": "TrainingRuntime", "name": "new"}),
            Form.SOURCE,
            submitted=[job("TrainingRuntime") | {"metadata": {"name": "new"}}],
        ),
        Case(
            "runtime for all comes along",
            TRAINJOB,
            Form.JOBSET,
            submitted=[job("ClusterTrainingRuntime")],
        ),
        Case("files come along", TRAINJOB, Form.SOURCE, submitted=[job("ConfigMap")]),
        Case("restarts of its own, and upstream's operator", RESTARTS, Form.JOBSET),
        Case(
            "restarts of its own, and our operator",
            RESTARTS,
            Form.SOURCE,
            followed=frozenset({MAX_RESTARTS}),
        ),
        Case("elastic, and upstream's operator", ELASTIC, Form.JOBSET),
        Case("elastic, and our operator", ELASTIC, Form.SOURCE, followed=frozenset({MIN_NODES})),
        Case("forced JobSet", TRAINJOB, Form.JOBSET, forced="jobset"),
        Case("forced Jobs", TRAINJOB, Form.JOBS, forced="jobs"),
        Case(
            "annotated",
            job("TrainJob", {"name": "torch"}, annotations={KUBERNETES_FORM: "jobs"}),
            Form.JOBS,
        ),
        Case(
            "forced to what is not there",
            job("JobSet"),
            Form.JOBS,
            frozenset({"batch/v1"}),
            forced="jobset",
        ),
    ],
    ids=lambda case: case.name,
)
def test_the_highest_form_that_the_cluster_takes(case: Case) -> None:
    offer = Offer(case.apis, {TORCH: {}, OURS: {}}, case.followed)
    assert choose(case.source, case.submitted, offer, case.forced) is case.form


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(UsageError, match="no form 'deployment'") as caught:
        choose(TRAINJOB, [], Offer(), "deployment")
    assert caught.value.hint == "one of source, jobset, jobs"


def test_what_a_list_of_groups_says() -> None:
    versions = [{"groupVersion": JOBSET_API, "version": "v1alpha2"}]
    groups = {"groups": [{"name": "jobset.x-k8s.io", "versions": versions}]}
    assert apis_of(groups) == frozenset({JOBSET_API})
