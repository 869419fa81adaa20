"""TrainerClient: the methods of the kubeflow SDK, on Trainway.

A notebook written for `kubeflow.trainer` runs here by changing one import. What differs: waiting
watches instead of polling, following a log waits for a pod that has not started, and a job that
fails is not retried six times first.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from trainway.errors import NotFoundError, TrainwayError
from trainway.jobset.labels import FRAMEWORK
from trainway.json_types import Json
from trainway.sdk.kubeflow import views
from trainway.sdk.kubeflow.adoption import adopted
from trainway.sdk.kubeflow.options import Option
from trainway.sdk.kubeflow.requests import train_job
from trainway.sdk.kubeflow.types.types import (
    BackendConfig,
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    Event,
    Initializer,
    KubernetesBackendConfig,
    Runtime,
    TrainerType,
    TrainJob,
)
from trainway.sdk.manifests import TORCH_RUNTIME, failing_fast
from trainway.sdk.rest import LogQuery, Rest, Submission
from trainway.sdk.submitter import job_options
from trainway.sdk.transport import StreamControl

_PAGE = 500


class TrainerClient:
    """Runs TrainJobs. `backend_config` is taken for its namespace; the server decides the rest."""

    def __init__(self, backend_config: BackendConfig | None = None) -> None:
        self._namespace = None
        backend_config = adopted(backend_config)
        if isinstance(backend_config, KubernetesBackendConfig):
            self._namespace = backend_config.namespace
        self._rest = Rest.connect()

    def train(
        self,
        runtime: str | Runtime | None = None,
        initializer: Initializer | None = None,
        trainer: CustomTrainer | CustomTrainerContainer | BuiltinTrainer | None = None,
        options: list[Option] | None = None,
    ) -> str:
        """Submit a TrainJob and give its name. The runtime is torch-distributed unless named."""
        runtime, initializer, trainer, options = map(
            adopted, (runtime, initializer, trainer, options)
        )
        name = runtime.name if isinstance(runtime, Runtime) else runtime or TORCH_RUNTIME
        with translated(f"submit a TrainJob with the runtime {name}"):
            manifest = self._rest.runtime(name)
            known = runtime if isinstance(runtime, Runtime) else views.runtime_of(manifest)
            job = train_job(random_name(), known, manifest, trainer, initializer)
            if self._namespace:
                job["metadata"]["namespace"] = self._namespace
            for option in options or ():
                option(job, trainer, self)
            objects = [failing_fast(manifest), job]
            submitter = job_options(self._rest.address, prefer_our_python=True)
            created, _ = self._rest.submit(Submission(objects, submitter))
        return str(created["metadata"]["name"])

    def list_jobs(self, runtime: Runtime | None = None) -> list[TrainJob]:
        """All TrainJobs, or those of one runtime; newest first."""
        with translated("list TrainJobs"):
            jobs = [job for job in self._all_jobs() if job["spec"]["kind"] == "TrainJob"]
            wanted = [job for job in jobs if not runtime or views.runtime_name(job) == runtime.name]
            return [self._train_job(job) for job in wanted]

    def get_job(self, name: str) -> TrainJob:
        """The TrainJob of that name."""
        with translated(f"get the TrainJob {name}"):
            return self._train_job(self._rest.get(name))

    def get_job_logs(
        self, name: str, step: str = "node-0", follow: bool | None = False
    ) -> Iterator[str]:
        """The lines of one step; with `follow` also those to come, from its start on."""
        with translated(f"read the logs of the TrainJob {name}"):
            data = self._rest.get(name)
            is_mpi = views.is_mpi(self._train_job(data).runtime)
            query = LogQuery(rank=None if is_mpi else _rank(step), follow=bool(follow))
            lines = (
                line
                for line in self._rest.logs(data["metadata"]["id"], query)
                if views.step_name(line.role, line.rank, is_mpi=is_mpi) == step
            )
            yield from views.log_lines(lines, follow=bool(follow))

    def get_job_events(self, name: str) -> list[Event]:
        """What happened to the job, oldest first."""
        with translated(f"get the events of the TrainJob {name}"):
            events = [views.event_of(event, name) for event in self._rest.events(name)]
        return sorted(events, key=lambda event: event.event_time)

    def wait_for_job_status(
        self,
        name: str,
        status: set[str] | frozenset[str] = frozenset({views.COMPLETE}),
        timeout: int = 600,
        polling_interval: int = 2,
        callbacks: list[Callable[[TrainJob], None]] | None = None,
    ) -> TrainJob:
        """Wait until the job has one of these statuses; callbacks see it whenever it changes."""
        if not status <= views.STATUSES:
            raise ValueError(f"status must be among {sorted(views.STATUSES)}, not {sorted(status)}")
        if not 0 < polling_interval < timeout:
            raise ValueError("polling_interval must be more than 0 and less than timeout")
        control = StreamControl(time.monotonic() + timeout)
        with translated(f"wait for the TrainJob {name}"):
            for data in self._rest.watch(name, control):
                job = self._train_job(data)
                for callback in callbacks or ():
                    callback(job)
                if job.status in status:
                    return job
                if job.status == views.FAILED:
                    raise RuntimeError(f"TrainJob {name} is Failed")
        raise TimeoutError(f"TrainJob {name} is not {' or '.join(sorted(status))} in {timeout} s")

    def delete_job(self, name: str) -> None:
        """Stop the job if it runs, and remove it."""
        with translated(f"delete the TrainJob {name}"):
            self._rest.delete(name)

    def list_runtimes(self) -> list[Runtime]:
        """All runtimes that have a framework."""
        with translated("list runtimes"):
            manifests = self._rest.runtimes()
        labelled = [
            manifest
            for manifest in manifests
            if FRAMEWORK in (manifest["metadata"].get("labels") or {})
        ]
        return [views.runtime_of(manifest) for manifest in labelled]

    def get_runtime(self, name: str) -> Runtime:
        """The runtime of that name."""
        with translated(f"get the runtime {name}"):
            return views.runtime_of(self._rest.runtime(name))

    def get_runtime_packages(self, runtime: Runtime) -> None:
        """Print the Python packages that a job of this runtime finds."""
        if runtime.trainer.trainer_type is TrainerType.BUILTIN_TRAINER:
            raise ValueError("a runtime with a built-in trainer shows no packages")
        name = self.train(runtime, trainer=CustomTrainer(print_packages, num_nodes=1))
        try:
            self.wait_for_job_status(name)
            print(*self.get_job_logs(name), sep="\n")  # noqa: T201 - what the method is for
        finally:
            with suppress(RuntimeError):
                self.delete_job(name)

    def _train_job(self, job: Json) -> TrainJob:
        return views.train_job_of(job, self._runtime_of(job))

    def _runtime_of(self, job: Json) -> Runtime:
        """The runtime of a job; a mere name where it is gone, or none that the SDK could use."""
        name = views.runtime_name(job)
        try:
            return views.runtime_of(views.submitted_runtime(job, name) or self._rest.runtime(name))
        except (NotFoundError, RuntimeError, LookupError, TypeError):
            return views.unknown_runtime(name)

    def _all_jobs(self) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            items, cursor = self._rest.page(limit=_PAGE, cursor=cursor)
            yield from items
            if not cursor:
                return


def print_packages() -> None:
    """Runs in a job: the version of Python and what is installed."""
    import sys  # noqa: PLC0415 - the function travels by itself
    from importlib import metadata  # noqa: PLC0415 - as above

    print("Python", sys.version)  # noqa: T201 - the job's log
    names = {(item.metadata["Name"] or "?", item.version) for item in metadata.distributions()}
    for name, version in sorted(names, key=lambda pair: pair[0].lower()):
        print(f"{name:30} {version}")  # noqa: T201 - the job's log


def random_name() -> str:
    """A letter and eleven hexadecimal digits."""
    return secrets.choice("abcdefghijklmnopqrstuvwxyz") + secrets.token_hex(6)[:11]


def _rank(step: str) -> int | None:
    """The rank of a node; initializers have none that matters."""
    _, _, number = step.rpartition("-")
    return int(number) if number.isdecimal() else None


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Our errors as those that code written for the SDK catches."""
    try:
        yield
    except TrainwayError as error:
        raise RuntimeError(f"cannot {what}: {error}") from error
