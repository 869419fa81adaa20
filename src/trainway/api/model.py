"""The base of all typed objects, and the metadata each of them has.

A model only gives types to an object that has been checked and defaulted before: what users wrote
is judged by `trainway.schema.validation`, with the schema derived from these same models, because
its errors are those of a cluster. Models are built when first used, so importing one is cheap.
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field

from trainway.api.constraints import Kube
from trainway.schema.structural import Rule


def camel_case(name: str) -> str:
    """`storage_uri` as Kubernetes writes it: `storageUri`."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


class Model(BaseModel):
    """One object of an API, or a part of it.

    A field without a default is required. A default that is a plain value is also the default of
    the CRD; None or a factory stand for a field that is not there.
    """

    model_config = ConfigDict(
        alias_generator=camel_case,
        defer_build=True,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        strict=True,
    )

    rules: ClassVar[tuple[Rule, ...]] = ()
    """What must hold between the fields."""
    min_properties: ClassVar[int | None] = None
    """How many fields must be given."""

    @classmethod
    def parse(cls, data: dict[str, Any]) -> Self:
        """The typed form of an object that is valid and has its defaults."""
        return cls.model_validate(data)

    def to_dict(self) -> dict[str, Any]:
        """What the object was parsed from or made with; fields never given stay out."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ObjectMeta(Model):
    """Who an object is. The rest of its metadata is kept as it came."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(default_factory=str)
    namespace: str = Field(default_factory=str)
    uid: str = Field(default_factory=str)
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)


class Resource(Model):
    """A whole object, as it is written and stored."""

    api_version: str
    """The version of the API that the object is written for."""
    kind: str
    """The kind of the object."""
    metadata: Annotated[ObjectMeta, Kube("ObjectMeta")]


class Condition(Model):
    """What is known about one aspect of an object, and since when."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str
    observed_generation: int | None = None
