"""How often a TrainJob restarts, where the job itself says so and not its runtime.

A runtime retries single pods as Kubernetes does. Whoever runs a script waits for it and wants to
see its error, not six attempts of it. Neither the fields of a TrainJob nor patches of its runtime
can ask for that, so an annotation does, and no job needs a runtime of its own for it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainway.jobset.labels import MAX_RESTARTS, RECOVER_ON_EXIT_CODES
from trainway.json_types import Json

INITIALIZERS: Final = ("dataset-initializer", "model-initializer")

_MOST: Final = 2**31 - 1
_MOST_CODE: Final = 255
_DIGITS: Final = 20


def with_max_restarts(job: Json, restarts: int, exit_codes: Sequence[int] = ()) -> Json:
    """The TrainJob, saying so; after some exit codes it restarts however often."""
    metadata = job.get("metadata") or {}
    said = {**(metadata.get("annotations") or {}), MAX_RESTARTS: str(restarts)}
    if exit_codes:
        said[RECOVER_ON_EXIT_CODES] = ",".join(map(str, exit_codes))
    return {**job, "metadata": {**metadata, "annotations": said}}


def said_of_restarts(job: Mapping[str, Any]) -> set[str]:
    """The annotations by which a TrainJob says how often it restarts; none: it does not."""
    annotations = (job.get("metadata") or {}).get("annotations") or {}
    return {MAX_RESTARTS, RECOVER_ON_EXIT_CODES} & set(annotations)


def max_restarts(annotations: Mapping[str, str]) -> int | None:
    """How often a job restarts; None where its runtime decides. ValueError: that is no count."""
    text = annotations.get(MAX_RESTARTS)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(_MOST))):
        raise ValueError(text)
    if int(text) > _MOST:
        raise ValueError(text)
    return int(text)


def recovered_exit_codes(annotations: Mapping[str, str]) -> list[int]:
    """The exit codes after which a job restarts however often. ValueError: these are none."""
    return exit_codes_of(annotations.get(RECOVER_ON_EXIT_CODES) or "")


def exit_codes_of(text: str) -> list[int]:
    """The codes of `33,34`, in order; ValueError where one is no exit code of a failure."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(part.isascii() and part.isdigit() and len(part) <= _DIGITS for part in parts):
        raise ValueError(text)
    codes = sorted({int(part) for part in parts})
    if codes and not 0 < codes[0] <= codes[-1] <= _MOST_CODE:
        raise ValueError(text)
    return codes


def failure_policy(restarts: int, recovering: Sequence[str]) -> Json:
    """The failurePolicy of a JobSet: so many restarts, and those of exit codes do not count.

    `recovering` are the roles whose Jobs have the policy of `pod_failure_policy`.
    """
    if not restarts and not recovering:
        return {}
    policy: Json = {"maxRestarts": restarts}
    if recovering:
        policy["rules"] = [
            {
                "name": "recoverOnExitCodes",
                "action": "RestartJobSetAndIgnoreMaxRestarts",
                "onJobFailureReasons": ["PodFailurePolicy"],
                "targetReplicatedJobs": list(recovering),
            }
        ]
    return {"failurePolicy": policy}


def pod_failure_policy(exit_codes: Sequence[int], container: str = "") -> Json:
    """The podFailurePolicy of a Job that fails at once with these codes; empty: none is needed."""
    if not exit_codes:
        return {}
    matched: Json = {"containerName": container} if container else {}
    matched |= {"operator": "In", "values": list(exit_codes)}
    return {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": matched}]}}


def fail_fast(spec: Json, restarts: int, exit_codes: Sequence[int] = ()) -> None:
    """Change the spec of a JobSet so that it retries no single pod, and restarts this often."""
    roles = [role for role in spec["replicatedJobs"] if role["name"] not in INITIALIZERS]
    spec.pop("failurePolicy", None)
    names = [role["name"] for role in roles] if exit_codes else []
    spec.update(failure_policy(restarts, names))
    for role in roles:  # of the others, which download, one may well succeed the second time
        job = role["template"].setdefault("spec", {})
        job["backoffLimit"] = 0
        job.update(pod_failure_policy(exit_codes))
        job["template"]["spec"]["restartPolicy"] = "Never"
