"""What the Job controller must know of a batch/v1 Job, with the API's defaults filled in."""

from __future__ import annotations

from trainway.agent.base.labels import MIN_NODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.json_types import Json


MAX_INT32 = 2**31 - 1
DEFAULT_BACKOFF_LIMIT = 6


class JobSpec:
    """The spec of a Job as far as it steers pods."""

    def __init__(self, spec: Json, metadata: Json | None = None) -> None:
        """`metadata` is the Job's own: it says whether the Job is elastic."""
        self.indexed = spec.get("completionMode") == "Indexed"
        self.completions, self.parallelism = _counts(spec, indexed=self.indexed)
        per_index = spec.get("backoffLimitPerIndex")
        default = DEFAULT_BACKOFF_LIMIT if per_index is None else MAX_INT32
        self.backoff_limit = _number(spec.get("backoffLimit"), default)
        self.backoff_limit_per_index: int | None = per_index
        self.max_failed_indexes: int | None = spec.get("maxFailedIndexes")
        self.active_deadline: int | None = spec.get("activeDeadlineSeconds")
        self.failure_rules: list[Json] = _rules(spec.get("podFailurePolicy"))
        self.success_rules: list[Json] = _rules(spec.get("successPolicy"))
        self.replaces_failed_only = (
            spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy") is not None
        )
        annotations = (metadata or {}).get("annotations")
        self.minimum = minimum_nodes(annotations, self.completions) if self.indexed else None
        """With how many pods at least it goes on; None: it is not elastic."""
        if self.minimum is not None:
            # Each pod is replaced by itself, whatever became of others and however often.
            self.backoff_limit = self.backoff_limit_per_index = MAX_INT32
        pod = (spec.get("template") or {}).get("spec") or {}
        self.restart_policy = str(pod.get("restartPolicy") or "OnFailure")

    @property
    def pods(self) -> int:
        """How many pods must be ready for the Job to count as ready."""
        if self.minimum is not None:
            return self.minimum
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


def _counts(spec: Json, *, indexed: bool) -> tuple[int | None, int]:
    """Completions and parallelism; both are 1 where neither is given.

    The API refuses an Indexed Job without completions; here every pod that runs must complete.
    """
    completions: int | None = spec.get("completions")
    parallelism: int | None = spec.get("parallelism")
    if completions is None and (parallelism is None or indexed):
        completions = _number(parallelism, 1)
    return completions, _number(parallelism, 1)


def minimum_nodes(annotations: Json | None, most: int | None) -> int | None:
    """With how many of its pods an elastic Job goes on, by its annotations; None: with all.

    A JobSet that somebody wrote may say anything there; what is no number of its pods says nothing.
    """
    text = str((annotations or {}).get(MIN_NODES) or "")
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_INT32))
    return int(text) if is_number and 1 <= int(text) <= (most or 1) else None


def _number(value: int | None, default: int) -> int:
    return default if value is None else value


def _rules(policy: Json | None) -> list[Json]:
    return list((policy or {}).get("rules") or [])
