"""The metrics of a server's jobs.

Series of single jobs exist while these run, and only for so many of them: `MOST_JOBS` and
`MOST_NODES` bound the page however many jobs there are.
"""

from typing import Final

from trainway.telemetry.job_metrics import SERVER_JOBS
from trainway.telemetry.metric import LONG_S, Metric, gauge, histogram

MOST_JOBS: Final = 200
MOST_NODES: Final = 500

QUEUE_LENGTH: Final = gauge("trainway_queue_jobs", "Jobs that wait until they may start", "backend")
QUEUE_OLDEST: Final = gauge(
    "trainway_queue_oldest_seconds",
    "Time since the creation of the oldest job that waits",
    "backend",
)
QUEUE_WAIT: Final = histogram(
    "trainway_queue_wait_seconds",
    "Time that a job waited before it ran",
    "backend",
    buckets=LONG_S,
)
GPUS: Final = gauge("trainway_gpus_held", "GPUs that running jobs have requested", "backend")
CPUS: Final = gauge("trainway_cpus_held", "CPUs that running jobs have requested", "backend")

JOB_INFO: Final = gauge(
    "trainway_job_info",
    "1 for each job that runs, to join its name to other metrics",
    *("job_id", "name", "namespace", "kind", "backend", "phase"),
)
JOB_START: Final = gauge(
    "trainway_job_start_timestamp_seconds",
    "When the job began to run, in seconds since 1970",
    "job_id",
)
JOB_RESTARTS: Final = gauge(
    "trainway_job_restarts", "Restarts of all nodes of a job that runs, so far", "job_id"
)
JOB_PROGRESS: Final = gauge(
    "trainway_job_progress_ratio", "How much of the job is done, from 0 to 1, as it says", "job_id"
)
JOB_REMAINING: Final = gauge(
    "trainway_job_remaining_seconds", "Time that the job still needs, as it estimates", "job_id"
)
_NODE: Final = ("job_id", "node", "host", "backend")
NODE_CPU: Final = gauge("trainway_node_cpu_usage_cores", "Cores that a node of a job uses", *_NODE)
NODE_MEMORY: Final = gauge(
    "trainway_node_memory_usage_bytes", "Memory that a node of a job uses", *_NODE
)
GPU_UTILIZATION: Final = gauge(
    "trainway_node_gpu_utilization_ratio", "How busy a GPU is, from 0 to 1", *_NODE, "gpu"
)
GPU_MEMORY: Final = gauge(
    "trainway_node_gpu_memory_used_bytes", "Memory in use on a GPU", *_NODE, "gpu"
)
GPU_POWER: Final = gauge("trainway_node_gpu_power_watts", "Power that a GPU draws", *_NODE, "gpu")
GPU_TEMPERATURE: Final = gauge(
    "trainway_node_gpu_temperature_celsius", "Temperature of a GPU", *_NODE, "gpu"
)
LEFT_OUT: Final = gauge(
    "trainway_jobs_left_out",
    "Jobs that run and have no series of their own, since there are too many",
)

JOB_METRICS: Final[tuple[Metric, ...]] = (
    *SERVER_JOBS.all,
    *(QUEUE_LENGTH, QUEUE_OLDEST, QUEUE_WAIT, GPUS, CPUS),
)
RUNNING_METRICS: Final[tuple[Metric, ...]] = (
    *(JOB_INFO, JOB_START, JOB_RESTARTS, JOB_PROGRESS, JOB_REMAINING),
    *(NODE_CPU, NODE_MEMORY, GPU_UTILIZATION, GPU_MEMORY, GPU_POWER, GPU_TEMPERATURE, LEFT_OUT),
)
