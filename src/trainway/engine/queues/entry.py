"""The queue that a new job comes into, and what that queue gives its jobs. Pure."""

import copy
from dataclasses import replace

from trainway.engine.submission import Prepared, Submission
from trainway.jobset.labels import QUEUE
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json
from trainway.queueing.queue_policy import DEFAULT_QUEUE, QueuePolicy

_GRACE = "terminationGracePeriodSeconds"


def queue_of(submission: Submission, prepared: Prepared) -> str:
    """What the submission says, or else the label of its job."""
    return submission.queue or prepared.labels.get(QUEUE) or DEFAULT_QUEUE


def with_grace(prepared: Prepared, policy: QueuePolicy) -> Prepared:
    """The job with the grace period of its queue, in pods that have none of their own.

    A job that makes room is suspended, and its processes have that long after SIGTERM.
    """
    if policy.grace_s == QueuePolicy(policy.name).grace_s:
        return prepared  # what pods have anyway
    jobset: Json = copy.deepcopy(prepared.jobset)
    for job in replicated_jobs(jobset["spec"]):
        job.pod.spec.setdefault(_GRACE, policy.grace_s)
    return replace(prepared, jobset=jobset)
