"""What the API shows: fields as JSON spells them."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Shown(BaseModel):
    """Something whose fields are named as in Kubernetes: `camelCase`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)
