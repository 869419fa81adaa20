"""How many pods one job may have where each becomes a process that we start and keep in mind.

The number is counted, never listed: a request of a few bytes can ask for a billion. Whoever has
room for more says so in `config.yaml`:

    limits:
      pods_per_job: 5000
"""

from collections.abc import Mapping
from typing import Any, Final

from trainway.compiler.host_list import MOST_HOSTS
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.json_types import Json
from trainway.schema.shape import Number

DEFAULT: Final = 1_000
FIELD: Final = "limits.pods_per_job"
SHAPE: Final = Number(whole=True, above=0, most=MOST_HOSTS)


def limit_of(limits: Mapping[str, Any]) -> int:
    """The number that the section `limits` says, or the default."""
    return int(limits.get("pods_per_job") or DEFAULT)


def pod_count(spec: Json) -> int:
    """How many pods a JobSet's spec asks for, in all."""
    return sum(job.replicas * pods_of_job(job) for job in replicated_jobs(spec))


def pods_of_job(job: ReplicatedJob) -> int:
    """How many pods each Job of a role has, one after the other or at once."""
    completions, parallelism = job.job_spec.get("completions"), job.job_spec.get("parallelism")
    if completions is None:
        return 1 if parallelism is None else int(parallelism)
    return int(completions)
