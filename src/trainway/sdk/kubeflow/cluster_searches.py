"""Searches of a cluster: OptimizationJobs, which Trainway's operator runs, and their TrainJobs."""

from collections.abc import Iterator
from typing import Final

from trainway.errors import NotFoundError
from trainway.jobset.labels import (
    COMPLETION_INDEX,
    JOBSET_NAME,
    OPTIMIZATION_JOB,
    REPLICATED_JOB_NAME,
)
from trainway.json_types import Json
from trainway.sdk.kubeflow import cluster_views
from trainway.sdk.kubeflow.cluster_api import (
    CLUSTER_RUNTIMES,
    RUNTIMES,
    SEARCHES,
    TRAINJOBS,
    ClusterApi,
    Request,
    core,
    objects,
)
from trainway.sdk.kubeflow.types.optimizer import OptimizationJob, Result
from trainway.sdk.kubeflow.types.types import Event, Runtime, RuntimeKind

_FIRST: Final = f"{COMPLETION_INDEX}=0"
_ROLE: Final = f"{REPLICATED_JOB_NAME} in (node, launcher)"
_PLURALS: Final = {
    RuntimeKind.TRAINING_RUNTIME: RUNTIMES,
    RuntimeKind.CLUSTER_TRAINING_RUNTIME: CLUSTER_RUNTIMES,
}


class ClusterSearches:
    """The OptimizationJobs of a namespace."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api

    def runtime(self, given: str | Runtime) -> Json:
        """A runtime: of a mere name the one of the namespace, if it has one."""
        if isinstance(given, Runtime):
            return self._runtime(_PLURALS[given.kind], given.name)
        try:
            return self._runtime(RUNTIMES, given)
        except NotFoundError:
            return self._runtime(CLUSTER_RUNTIMES, given)

    def submit(self, runtime: Json, job: Json, search: Json) -> str:
        """Create a search whose trials are like that job."""
        del runtime  # the cluster has it
        obj = cluster_views.manifest(job, search, self._api.namespace)
        self._send("POST", objects(SEARCHES, self._api.namespace), body=obj)
        return str(obj["metadata"]["name"])

    def all(self) -> list[OptimizationJob]:
        """Every search, newest first."""
        found = self._send("GET", objects(SEARCHES, self._api.namespace))["items"]
        trials = self._send(
            "GET", objects(TRAINJOBS, self._api.namespace), labelSelector=OPTIMIZATION_JOB
        )["items"]
        newest = sorted(
            found, key=lambda each: str(each["metadata"]["creationTimestamp"]), reverse=True
        )
        return [cluster_views.optimization_job(each, trials) for each in newest]

    def get(self, name: str) -> OptimizationJob:
        """One search."""
        return cluster_views.optimization_job(self._search(name), self._trials(name))

    def lines(self, name: str, trial: str | None, *, follow: bool) -> Iterator[str]:
        """The log of the first node of a trial: the best one, or else the first."""
        search = self._search(name)
        trials = cluster_views.trials_of(search, self._trials(name))
        best = ((search.get("status") or {}).get("result") or {}).get("trainJobName")
        chosen = trial or best or next((each.name for each in trials), None)
        if chosen is None:
            return
        selector = f"{JOBSET_NAME}={chosen},{_FIRST},{_ROLE}"
        pods = self._send("GET", core("pods", self._api.namespace), labelSelector=selector)["items"]
        if not pods:
            raise NotFoundError(f"the trial {chosen} has no pod, so there is no log of it")
        newest = max(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
        path = core("pods", self._api.namespace, newest["metadata"]["name"]) + "/log"
        query = {"container": "node", **({"follow": "true"} if follow else {})}
        yield from self._api.lines(Request("GET", path, query))

    def best(self, name: str) -> Result | None:
        """The best values so far."""
        return cluster_views.result_of(self._search(name), self._trials(name))

    def delete(self, name: str) -> None:
        """Remove a search; its trials go with it."""
        self._send("DELETE", objects(SEARCHES, self._api.namespace, name))

    def events(self, name: str) -> list[Event]:
        """What happened to a search and its trials."""
        names = {name, *(each["metadata"]["name"] for each in self._trials(name))}
        self._search(name)
        found = self._send("GET", core("events", self._api.namespace))["items"]
        return [
            cluster_views.event_of(each)
            for each in found
            if each["involvedObject"].get("name") in names
        ]

    def _search(self, name: str) -> Json:
        return self._send("GET", objects(SEARCHES, self._api.namespace, name))

    def _trials(self, name: str) -> list[Json]:
        path = objects(TRAINJOBS, self._api.namespace)
        found: list[Json] = self._send("GET", path, labelSelector=f"{OPTIMIZATION_JOB}={name}")[
            "items"
        ]
        return found

    def _runtime(self, plural: str, name: str) -> Json:
        is_shared = plural == CLUSTER_RUNTIMES
        found = self._send("GET", objects(plural, "" if is_shared else self._api.namespace, name))
        kinds = RuntimeKind.TRAINING_RUNTIME, RuntimeKind.CLUSTER_TRAINING_RUNTIME
        return {**found, "kind": kinds[is_shared].value}

    def _send(self, method: str, path: str, *, body: Json | None = None, **query: str) -> Json:
        answer: Json = self._api.send(Request(method, path, query, body))
        return answer
