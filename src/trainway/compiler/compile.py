"""Any mix of objects, read together, to all the objects they become.

The inputs are the whole world: a runtime or PriorityClass is there if it is among them (or built
in). Either everything compiles, or all problems of all inputs are reported and nothing comes out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trainway.api.admission import (
    mpijob_warnings,
    runtime_warnings,
    trainjob_warnings,
    validate_mpijob,
    validate_runtime,
)
from trainway.api.document import Place, place_text
from trainway.api.kinds import KINDS, check, read
from trainway.api.mpijob import MPIJob
from trainway.api.optimizationjob import OptimizationJob
from trainway.api.runtime import ClusterTrainingRuntime, TrainingRuntime
from trainway.api.task import task_object
from trainway.api.task.task_object import TaskJob
from trainway.api.trainjob import TrainJob
from trainway.compiler.compiled import Compiled
from trainway.compiler.inputs import Input, Key
from trainway.compiler.keys import GeneratedKeys, RedactedKeys
from trainway.compiler.mpijob import compile_mpijob
from trainway.compiler.network import JobIdentity, KubernetesNetwork, NetworkFactory
from trainway.compiler.task import compile_task
from trainway.compiler.task_pods import as_written
from trainway.compiler.trainjob import (
    Target,
    compile_trainjob,
    runtime_kind_error,
    runtime_missing_error,
)
from trainway.compiler.workload import Lookup, Runtime
from trainway.errors import InvalidError
from trainway.jobset.admission import validate_create, with_webhook_defaults
from trainway.jobset.model import API_VERSION as JOBSET_VERSION
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.jobset.spec import JOBSET
from trainway.json_types import Json
from trainway.optimization.trainjob import first_trial
from trainway.optimization.validation import validate_optimizationjob
from trainway.schema.defaulting import with_defaults
from trainway.schema.field import duplicate, required
from trainway.schema.validation import Report, closest, validate

__all__ = [
    "JOBSET_KEY",
    "NETWORKS",
    "PRIORITY_CLASS",
    "TASK_KEY",
    "Input",
    "Options",
    "Outcome",
    "Problem",
    "compile_objects",
]

NETWORKS: Final[Mapping[str, NetworkFactory]] = {"kubernetes": KubernetesNetwork}
PRIORITY_CLASS: Final = ("scheduling.k8s.io/v1", "PriorityClass")
JOBSET_KEY: Final = (JOBSET_VERSION, JOBSET_KIND)
TASK_KEY: Final = (task_object.API_VERSION, task_object.KIND)

_SUFFIX: Final = "xxxxx"
"""Stands for the characters that end a generated name."""


@dataclass(frozen=True)
class Options:
    """How to compile."""

    network: str | NetworkFactory = "kubernetes"
    """One of `NETWORKS`, or what a backend brings."""
    redact: bool = False
    """Whether a word is put in place of key material."""
    builtin_runtime: Callable[[str], Json | None] = lambda _name: None
    """A function that finds a ClusterTrainingRuntime that is not among the inputs."""
    initializer_images: Mapping[str, str] = field(default_factory=dict)
    """The images that take the place of upstream's, by the step that they do."""


@dataclass(frozen=True)
class Problem:
    """Something the author of an input must or should know."""

    source: str
    kind: str
    name: str
    message: str
    place: Place | None = None
    """Where in the source it is, if that is known."""

    def __str__(self) -> str:
        return f"{self.source}: {place_text(self.place)}{self.kind}/{self.name}: {self.message}"


@dataclass
class Outcome:
    """What came of the inputs. With an error there are no objects."""

    objects: list[Json] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def compile_objects(inputs: Sequence[Input], options: Options) -> Outcome:
    """Compile all inputs together."""
    return _Compilation(inputs, options).run()


class _Compilation:
    def __init__(self, inputs: Sequence[Input], options: Options) -> None:
        self.inputs = [_as_sent(item) for item in inputs]
        self.options = options
        self.outcome = Outcome()
        self.runtimes: dict[Key, Runtime | None] = {}
        """The runtimes among the inputs; None stands for one that is not valid."""
        priority_classes = {item.name for item in inputs if item.type == PRIORITY_CLASS}
        self.known = {item.group or item.source for item in inputs if _is_known(item)}
        """Where there is something that is not left out."""
        self.target = Target(
            network=_network(options.network),
            keys=RedactedKeys() if options.redact else GeneratedKeys(),
            lookup=Lookup(has_priority_class=priority_classes.__contains__),
            initializer_images=options.initializer_images,
        )

    def run(self) -> Outcome:
        """Check every input, then compile the jobs among them."""
        jobs: list[tuple[Input, TrainJob | MPIJob | TaskJob | Json]] = []
        seen: set[Key] = set()
        for item in self.inputs:
            if item.name and item.key in seen:
                self._refuse(item, [duplicate(("metadata", "name"), item.name)])
                continue
            seen.add(item.key)
            checked = self._checked(item)
            if isinstance(checked, TrainingRuntime | ClusterTrainingRuntime):
                self._add_runtime(item, checked)
            elif isinstance(checked, OptimizationJob):
                self._refuse(item, validate_optimizationjob(checked))
                if not self.outcome.errors:
                    jobs.append((item, first_trial(checked)))
            elif isinstance(checked, TrainJob | MPIJob | TaskJob | dict):
                jobs.append((item, checked))
            elif item.type[1] in ("TrainingRuntime", "ClusterTrainingRuntime"):
                self.runtimes[item.key] = None
        for item, job in jobs:
            try:
                compiled = self._compile(job)
            except InvalidError as error:  # what only shows while objects are built
                self._refuse(item, error.lines)
                continue
            self._refuse(item, compiled.errors)
            self._warn(item, [*compiled.warnings, *_later_refusals(compiled.objects)])
            self.outcome.objects += compiled.objects
        if self.outcome.errors:
            self.outcome.objects = []
        return self.outcome

    def _checked(self, item: Input) -> Any:
        """The typed object, or None where there is nothing to go on with."""
        if item.type in KINDS:
            report = check(_named(item.data))
            self._report(item, report)
            return None if report.errors else read(_named(item.data))
        if item.type == JOBSET_KEY:
            return self._checked_jobset(item)
        if item.type == TASK_KEY:
            return self._checked_task(item)
        if task_object.is_task_secret(item.data):
            self.outcome.objects.append(item.data)
            return None
        if item.type != PRIORITY_CLASS:
            self._unknown_type(item)
        return None

    def _checked_jobset(self, item: Input) -> Json | None:
        jobset = _admitted(item.data)
        report = validate(JOBSET, jobset)
        if not report.errors:
            report.errors += validate_create(jobset)
        self._report(item, report)
        return None if report.errors else jobset

    def _checked_task(self, item: Input) -> TaskJob | None:
        job, errors = task_object.read(item.data)
        self._refuse(item, errors)
        return job

    def _unknown_type(self, item: Input) -> None:
        api_version, kind = item.type
        if not (api_version and kind):
            missing = [name for name in ("apiVersion", "kind") if not item.data.get(name)]
            self._refuse(item, [required((name,)) for name in missing])
            return
        known = [*KINDS, JOBSET_KEY]
        meant = [key for key in known if key[1] == closest(kind, (k for _, k in known), 0.8)]
        same_group = api_version.split("/")[0] in {version.split("/")[0] for version, _ in known}
        if meant:
            version, name = meant[0]
            self._refuse(item, [f"there is no such kind; did you mean {name} of {version}?"])
        elif same_group:
            self._refuse(item, [f"there is no kind {kind} in {api_version}"])
        elif (item.group or item.source) in self.known:
            self._warn(item, [f"{api_version} {kind} is not a job or runtime; it is left out"])
        else:
            self._refuse(item, [f"{api_version} {kind} is not a job or runtime"])

    def _add_runtime(self, item: Input, runtime: Runtime) -> None:
        self.runtimes[item.key] = runtime
        self._refuse(item, validate_runtime(runtime))
        self._warn(item, runtime_warnings(runtime))

    def _compile(self, job: TrainJob | MPIJob | TaskJob | Json) -> Compiled:
        if isinstance(job, TaskJob):
            return self._compile_task(job)
        if isinstance(job, TrainJob):
            return self._compile_trainjob(job)
        if isinstance(job, MPIJob):
            return self._compile_mpijob(job)
        return Compiled([job])

    def _compile_trainjob(self, job: TrainJob) -> Compiled:
        wrong_kind = runtime_kind_error(job)
        if wrong_kind is not None:
            return Compiled(errors=[wrong_kind])
        found = list(self._runtime(job))
        if not found:
            return Compiled(errors=[runtime_missing_error(job)])
        runtime = found[0]
        if runtime is None:
            return Compiled()
        compiled = compile_trainjob(job, runtime, self.target)
        return Compiled(compiled.objects, trainjob_warnings(job, runtime), compiled.errors)

    def _runtime(self, job: TrainJob) -> Iterator[Runtime | None]:
        """The runtime that a job names: from the inputs, else built in; None: it is not valid."""
        ref = job.spec.runtime_ref
        namespace = job.metadata.namespace if ref.kind == "TrainingRuntime" else ""
        key = ("trainer.kubeflow.org/v1alpha1", ref.kind, namespace, ref.name)
        if key in self.runtimes:
            yield self.runtimes[key]
        elif ref.kind == "ClusterTrainingRuntime":
            builtin = self.options.builtin_runtime(ref.name)
            if builtin is not None:
                yield ClusterTrainingRuntime.parse(with_defaults(KINDS[key[:2]].schema(), builtin))

    def _compile_mpijob(self, job: MPIJob) -> Compiled:
        errors = validate_mpijob(job)
        if errors:
            return Compiled(errors=errors)
        name, namespace = job.metadata.name, job.metadata.namespace or "default"
        network = self.target.network(JobIdentity(name, namespace, subdomain=name))
        compiled = compile_mpijob(job, network=network, keys=self.target.keys)
        return Compiled(compiled.objects, [*mpijob_warnings(job), *compiled.warnings])

    def _compile_task(self, job: TaskJob) -> Compiled:
        compiled = compile_task(job, self.target.network)
        refusals = [
            as_written(error)
            for obj in compiled.objects
            for error in validate(JOBSET, _admitted(obj)).errors
        ]
        return Compiled([], errors=refusals) if refusals else compiled

    def _report(self, item: Input, report: Report) -> None:
        self._refuse(item, report.errors)
        self._warn(item, report.warnings)

    def _refuse(self, item: Input, reasons: Sequence[object]) -> None:
        self.outcome.errors += _problems(item, reasons)

    def _warn(self, item: Input, reasons: Sequence[object]) -> None:
        self.outcome.warnings += _problems(item, reasons, "warning: ")


def _problems(item: Input, reasons: Sequence[object], prefix: str = "") -> list[Problem]:
    return [
        Problem(
            item.source, item.type[1] or "?", item.label, f"{prefix}{reason}", item.place(reason)
        )
        for reason in reasons
    ]


def _is_known(item: Input) -> bool:
    types = (JOBSET_KEY, TASK_KEY, PRIORITY_CLASS)
    return item.type in KINDS or item.type in types or task_object.is_task_secret(item.data)


def _as_sent(item: Input) -> Input:
    """As an API server takes an object: whatever it says of its status does not count."""
    if "status" not in item.data or not _is_known(item):
        return item
    data = {name: value for name, value in item.data.items() if name != "status"}
    return replace(item, data=data)


def _named(obj: Json) -> Json:
    """The object with a name in place of the one that it will get where it is created."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name"):
        return obj
    start = metadata.get("generateName")
    if not (isinstance(start, str) and start):
        return obj
    return {**obj, "metadata": {**metadata, "name": f"{start}{_SUFFIX}"}}


def _network(network: str | NetworkFactory) -> NetworkFactory:
    return NETWORKS[network] if isinstance(network, str) else network


def _admitted(jobset: Json) -> Json:
    """A JobSet as its webhook leaves it."""
    return with_webhook_defaults(with_defaults(JOBSET, jobset))


def _later_refusals(objects: Sequence[Json]) -> list[str]:
    """What JobSet's webhook will say against JobSets that we made, such as names too long."""
    jobsets = [obj for obj in objects if obj["kind"] == JOBSET_KIND]
    return [
        f"JobSet will refuse it: {error}"
        for jobset in jobsets
        for error in validate_create(_admitted(jobset))
    ]
