"""A job that is submitted again, as it was or with a difference."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment

_UNHURRIED_S = 600.0


@dataclass(frozen=True)
class Difference:
    """What is to be different."""

    env: Mapping[str, str] = field(default_factory=dict)
    settings: Sequence[str] = ()
    """`PATH=VALUE`, the value in YAML."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.env or self.settings)

    def body(self) -> Json:
        """What is sent."""
        return {"env": dict(self.env), "set": list(self.settings)}


def difference(env: Mapping[str, Any] | None, fields: Mapping[str, Any] | None) -> Difference:
    """The same from values of a program, each of which is written as JSON, which is YAML too."""
    variables = {name: str(value) for name, value in (env or {}).items()}
    texts = [f"{path}={json.dumps(value)}" for path, value in (fields or {}).items()]
    return Difference(variables, texts)


def rerun(rest: Rest, job_id: str, wanted: Difference) -> Json:
    """Submit it, once, also where the answer is lost on its way; the new job."""
    path, key = f"/jobs/{segment(job_id)}/rerun", secrets.token_hex(16)
    body = wanted.body()
    job: Json = rest.transport.request("POST", path, body=body, key=key, timeout=_UNHURRIED_S)
    return job


def preview(rest: Rest, job_id: str, wanted: Difference) -> Json:
    """What would be submitted: `before`, `after` and `warnings`."""
    path = f"/jobs/{segment(job_id)}/rerun/preview"
    body = wanted.body()
    answer: Json = rest.transport.request("POST", path, body=body, timeout=_UNHURRIED_S)
    return answer
