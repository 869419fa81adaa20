"""What an initializer is asked for: the variables of Kubeflow Trainer, understood. Pure.

The names of S3 are the general ones that upstream has; here they become those that AWS gives them.
An empty list of patterns means that there is none, and a model then leaves out the weights that
others have in another format: upstream declares that and never does it (defect D12).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainway.data.patterns import Patterns
from trainway.data.uri import HUB, Location, has_scheme, parse
from trainway.errors import UsageError

DATASET: Final = "dataset"
MODEL: Final = "model"
STEPS: Final = (DATASET, MODEL)
STORAGE_URI: Final = "STORAGE_URI"
WORKSPACE: Final = "/workspace"
"""What is fetched is in a folder of it that is named after the step."""
REFUSED: Final = 2
"""The exit code of an initializer whose next attempt would end alike."""
_IGNORED: Final = "IGNORE_PATTERNS"
_INCLUDED: Final = "INCLUDE_PATTERNS"
_CACHE: Final = "cache://"
_MODEL_FILES: Final = ("*.json", "*.safetensors", "*.model", "*.txt", "*.gguf")
_OTHER_WEIGHTS: Final = ("*.msgpack", "*.h5", "*.bin", "*.pt", "*.pth")
_KINDS: Final = ("models", "datasets", "spaces")
_NAMES: Final = {
    "ENDPOINT": "AWS_ENDPOINT_URL",
    "ACCESS_KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET_ACCESS_KEY": "AWS_SECRET_ACCESS_KEY",
    "REGION": "AWS_REGION",
    "ROLE_ARN": "AWS_ROLE_ARN",
}
_IDENTITY: Final = "AWS_WEB_IDENTITY_TOKEN_FILE"
_TOKENS: Final = ("AWS_SESSION_TOKEN", "AWS_TOKEN")


@dataclass(frozen=True)
class Request:
    """What to fetch, and how its store is asked."""

    location: Location
    patterns: Patterns
    environment: Mapping[str, str]
    """Variables that are to be set for those who read them under the names of AWS."""
    unset: tuple[str, ...] = ()
    """Variables of AWS that would be used in place of these, or belong to other keys."""


def request_of(step: str, environment: Mapping[str, str]) -> Request:
    """What the variables of an initializer mean."""
    uri = environment.get(STORAGE_URI, "").strip()
    if not uri:
        raise UsageError(
            f"{STORAGE_URI} is not set, so nobody knows what to fetch",
            hint=f"name it in spec.initializer.{step}.storageUri of the TrainJob",
        )
    if uri.startswith(_CACHE):
        raise UsageError(
            f"{uri} is a cache, which has rows of a data set and no files",
            hint="name the files, such as s3://BUCKET/PREFIX or hf://OWNER/NAME",
        )
    location = _located(step, uri)
    patterns = _patterns(step, location, environment)
    if location.scheme != "s3":
        return Request(location, patterns, {})
    found = _asked_with(environment)
    return Request(location, patterns, found, tuple(_in_the_way(environment, found)))


def _located(step: str, uri: str) -> Location:
    """Of the hub a whole repository, as upstream fetches it, and without a kind that of the step.

    The path behind its name says where below the data set the trainer looks. Who wants no more than
    that part fetched says so with patterns.
    """
    if not has_scheme(uri):
        raise UsageError(
            f"{STORAGE_URI} is {uri!r}, which is not a URI",
            hint="write hf://OWNER/NAME, s3://BUCKET/PREFIX or file:///PATH, for example",
        )
    prefix = f"{HUB}://"
    if not uri.lower().startswith(prefix):
        return parse(uri)
    rest = uri[len(prefix) :]
    if step == DATASET and rest.split("/")[0] not in _KINDS:
        rest = f"datasets/{rest}"
    return parse(prefix + rest).of("")


def _patterns(step: str, location: Location, environment: Mapping[str, str]) -> Patterns:
    included, ignored = _listed(environment, _INCLUDED), _listed(environment, _IGNORED)
    if step == MODEL and location.scheme == HUB:
        return Patterns(included or _MODEL_FILES, ignored or _OTHER_WEIGHTS)
    return Patterns(included, ignored)


def _listed(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    said = [text.strip() for text in environment.get(name, "").split(",")]
    return tuple(text for text in said if text)


def _asked_with(environment: Mapping[str, str]) -> dict[str, str]:
    said = {name: environment.get(name, "").strip() for name in _NAMES}
    if said["REGION"] == "auto":
        said["REGION"] = ""  # upstream's word for: find out
    if said["ENDPOINT"] and "://" not in said["ENDPOINT"]:
        said["ENDPOINT"] = f"https://{said['ENDPOINT']}"
    if said["ROLE_ARN"] and not environment.get(_IDENTITY):
        raise UsageError(
            f"ROLE_ARN is set, and there is no token of a service account to take that role with"
            f" ({_IDENTITY})",
            hint="let the service account of the pod have the role, or set ACCESS_KEY_ID and"
            " SECRET_ACCESS_KEY instead",
        )
    return {_NAMES[name]: value for name, value in said.items() if value}


def _in_the_way(environment: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """What the pod has for other purposes; a token without keys beside it belongs to ours."""
    access = found.get("AWS_ACCESS_KEY_ID")
    if access:
        yield "AWS_PROFILE"
        if (environment.get("AWS_ACCESS_KEY_ID") or access) != access:
            yield from _TOKENS
    if "AWS_ENDPOINT_URL" in found:
        yield "AWS_ENDPOINT_URL_S3"
