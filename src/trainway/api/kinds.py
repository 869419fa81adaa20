"""The kinds of objects, and the way in: `check` what was written, then `read` it.

`check` is the stage of the CRD: structure, limits and CEL rules, after defaults, as in a cluster.
What webhooks and controllers refuse later is in `admission`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from trainway.api.derivation import Describe, schema_of, undescribed
from trainway.api.model import Resource
from trainway.api.mpijob import MPIJob, with_controller_defaults
from trainway.api.optimizationjob import OptimizationJob
from trainway.api.removed_fields import with_migration_hint
from trainway.api.rules import NAME_FITS_LABEL, NAME_IS_LABEL, NAME_IS_SUBDOMAIN
from trainway.api.runtime import ClusterTrainingRuntime, TrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.jobset.quantity import quantity_errors
from trainway.json_types import Json
from trainway.schema.defaulting import with_defaults
from trainway.schema.field import ABSENT, not_supported, required
from trainway.schema.structural import Rule, Schema
from trainway.schema.validation import Report, validate


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"


_AGE = Column("Age", ".metadata.creationTimestamp", "date")


def _condition(type_: str) -> Column:
    """The status of one condition; for kinds where more than one is True at a time."""
    return Column(type_, f'.status.conditions[?(@.type=="{type_}")].status')


def _as_is(obj: Json) -> Json:
    return obj


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of object."""

    api_version: str
    kind: str
    plural: str
    singular: str
    model: type[Resource]
    scope: str = "Namespaced"
    name_rules: tuple[Rule, ...] = (NAME_IS_SUBDOMAIN,)
    """Rules on `metadata.name`; their CEL text speaks of the whole object."""
    columns: tuple[Column, ...] = ()
    requires_spec: bool = False
    """Whether a cluster refuses an object without spec; offline it is always an error."""
    fill: Callable[[Json], Json] = field(default=_as_is, repr=False)
    """What the controller defaults, after the CRD."""

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        """The version within the group."""
        return self.api_version.partition("/")[2]

    @property
    def has_status(self) -> bool:
        """Whether the status is written apart from the rest."""
        return "status" in self.model.model_fields

    def schema(self, describe: Describe = undescribed) -> Schema:
        """The schema of the whole object, as it is checked offline."""
        return _object_schema(self, describe)


@cache
def _object_schema(kind: Kind, describe: Describe) -> Schema:
    """As derived from the model, with the rules on the name at the name, and a name required."""
    schema = schema_of(kind.model, describe)
    metadata = schema.properties["metadata"]
    name = replace(metadata.properties["name"], rules=kind.name_rules)
    named = replace(metadata, properties={**metadata.properties, "name": name}, required=("name",))
    return replace(schema, properties={**schema.properties, "metadata": named})


_TRAINER = "trainer.kubeflow.org/v1alpha1"

_ALL = (
    Kind(
        api_version=_TRAINER,
        kind="TrainJob",
        plural="trainjobs",
        singular="trainjob",
        model=TrainJob,
        name_rules=(NAME_IS_LABEL, NAME_FITS_LABEL),
        columns=(
            Column("State", '.status.conditions[?(@.status=="True")].type'),
            Column("Suspended", ".spec.suspend", "boolean"),
            _AGE,
        ),
    ),
    Kind(
        api_version=_TRAINER,
        kind="TrainingRuntime",
        plural="trainingruntimes",
        singular="trainingruntime",
        model=TrainingRuntime,
    ),
    Kind(
        api_version=_TRAINER,
        kind="ClusterTrainingRuntime",
        plural="clustertrainingruntimes",
        singular="clustertrainingruntime",
        model=ClusterTrainingRuntime,
        scope="Cluster",
    ),
    Kind(
        api_version=_TRAINER,
        kind="OptimizationJob",
        plural="optimizationjobs",
        singular="optimizationjob",
        model=OptimizationJob,
        requires_spec=True,
        columns=(
            Column("Trials", ".spec.numTrials", "integer"),
            _condition("Complete"),
            Column("Best", ".status.result.trainJobName"),
            _AGE,
        ),
    ),
    Kind(
        api_version="kubeflow.org/v2beta1",
        kind="MPIJob",
        plural="mpijobs",
        singular="mpijob",
        model=MPIJob,
        name_rules=(),
        columns=(
            Column("Workers", ".spec.mpiReplicaSpecs.Worker.replicas", "integer"),
            _condition("Running"),
            _condition("Succeeded"),
            _condition("Failed"),
            Column("Suspended", ".spec.runPolicy.suspend", "boolean"),
            _AGE,
        ),
        fill=with_controller_defaults,
    ),
)

KINDS: Mapping[tuple[str, str], Kind] = {(kind.api_version, kind.kind): kind for kind in _ALL}


def kind_of(obj: Json) -> Kind | None:
    """The kind an object says it is; None if it is none of ours."""
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        return KINDS.get((api_version, kind))
    return None


def check(obj: Json, old: Json | None = None) -> Report:
    """Everything the CRD says against an object, and against the change from its former state."""
    kind = kind_of(obj)
    if kind is None:
        return _unknown_kind(obj)
    schema = kind.schema()
    former = ABSENT if old is None else _completed(schema, old)
    completed = _completed(schema, obj)
    report = validate(schema, completed, former)
    report.errors = [with_migration_hint(kind.kind, error) for error in report.errors]
    if not report.errors:
        report.errors += quantity_errors(schema, completed)
    return report


def read(obj: Json) -> Resource:
    """The typed form of an object that passed `check`, with all defaults filled in."""
    kind = KINDS[obj["apiVersion"], obj["kind"]]
    return kind.model.parse(kind.fill(with_defaults(kind.schema(), obj)))


def _completed(schema: Schema, obj: Json) -> Json:
    """The object as rules see it: with defaults, and an empty name taken for none."""
    completed: Json = with_defaults(schema, obj)
    metadata = completed.setdefault("metadata", {})
    if isinstance(metadata, dict) and metadata.get("name") == "":
        del metadata["name"]
    return completed


def _unknown_kind(obj: Json) -> Report:
    for name in ("apiVersion", "kind"):
        if not obj.get(name):
            return Report([required((name,))])
    api_versions = tuple(dict.fromkeys(api_version for api_version, _ in KINDS))
    if obj["apiVersion"] not in api_versions:
        return Report([not_supported(("apiVersion",), obj["apiVersion"], api_versions)])
    kinds = tuple(kind for api_version, kind in KINDS if api_version == obj["apiVersion"])
    return Report([not_supported(("kind",), obj["kind"], kinds)])
