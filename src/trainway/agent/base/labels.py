"""The names of the labels and annotations that agents give pods, each written once.

They are those of `jobset/labels.py`, which agents cannot import; a test compares the two.
"""

from __future__ import annotations

JOBSET_PREFIX = "jobset.sigs.k8s.io/"
REPLICATED_JOB_NAME = f"{JOBSET_PREFIX}replicatedjob-name"
RESTART_ATTEMPT = f"{JOBSET_PREFIX}restart-attempt"
JOB_KEY = f"{JOBSET_PREFIX}job-key"
EXCLUSIVE_TOPOLOGY = f"alpha.{JOBSET_PREFIX}exclusive-topology"
NODE_SELECTOR = f"alpha.{JOBSET_PREFIX}node-selector"

TERMINATION_DELAYS = "trainway.dev/termination-delays"
MIN_NODES = "trainway.dev/min-nodes"
HEALTH_CHECK = "trainway.dev/health-check"
HOSTS_RENDEZVOUS = "trainway.dev/hosts-rendezvous"

JOB_PREFIX = "batch.kubernetes.io/"
JOB_NAME = f"{JOB_PREFIX}job-name"
CONTROLLER_UID = f"{JOB_PREFIX}controller-uid"
COMPLETION_INDEX = f"{JOB_PREFIX}job-completion-index"
INDEX_FAILURE_COUNT = f"{JOB_PREFIX}job-index-failure-count"

ENVIRONMENT = "trainway-environment"
"""The container that makes the Python environment of a pod."""
