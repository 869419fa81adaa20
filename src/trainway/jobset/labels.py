"""The names of all labels and annotations that Trainway reads or writes, each written once.

Objects travel through compiler, backends and operator, and what one of them writes another reads. A
name that two of them spell would be two names one day. Agents may import nothing of ours; they have
theirs in `agent/base/labels.py`, and a test compares the two.
"""

from typing import Final

TRAINWAY_PREFIX: Final = "trainway.dev/"
"""What the names of labels and annotations begin with that are ours."""

JOBSET_PREFIX: Final = "jobset.sigs.k8s.io/"
JOBSET_NAME: Final = f"{JOBSET_PREFIX}jobset-name"
JOBSET_UID: Final = f"{JOBSET_PREFIX}jobset-uid"
REPLICATED_JOB_NAME: Final = f"{JOBSET_PREFIX}replicatedjob-name"
JOB_INDEX: Final = f"{JOBSET_PREFIX}job-index"
RESTART_ATTEMPT: Final = f"{JOBSET_PREFIX}restart-attempt"
EXCLUSIVE_TOPOLOGY: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""What JobSet gives its Jobs and pods, and what asks it to keep Jobs apart."""

JOB_NAME: Final = "batch.kubernetes.io/job-name"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""What the Job controller gives pods; the index is a label and an annotation."""

DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
"""The container of a pod whose log `kubectl logs` prints."""

MPI_OPERATOR_NAME: Final = "training.kubeflow.org/operator-name"
MPI_JOB_NAME: Final = "training.kubeflow.org/job-name"
MPI_JOB_ROLE: Final = "training.kubeflow.org/job-role"
MPI_REPLICA_INDEX: Final = "training.kubeflow.org/replica-index"
"""What MPI Operator gives pods. Its own have no JobSet, and so none of JobSet's labels."""

ANCESTOR_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
FRAMEWORK: Final = "trainer.kubeflow.org/framework"
SUPPORT: Final = "trainer.kubeflow.org/support"
WEBHOOK_VALIDATION: Final = "trainer.kubeflow.org/webhook-validation"
"""On the runtimes of Kubeflow Trainer."""

KUEUE_PREFIX: Final = "kueue.x-k8s.io/"
KUEUE_QUEUE_NAME: Final = f"{KUEUE_PREFIX}queue-name"
KUEUE_PRIORITY_CLASS: Final = f"{KUEUE_PREFIX}priority-class"
VOLCANO_QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
VOLCANO_GROUP_NAME: Final = "scheduling.k8s.io/group-name"
COSCHEDULING_POD_GROUP: Final = "scheduling.x-k8s.io/pod-group"
"""What Kueue, Volcano and the coscheduling plugin know a gang by."""

TIMEOUT_SECONDS: Final = "trainway.dev/timeout-seconds"
"""On a job: after so many seconds of running, restarts included, it is ended and has failed."""
ISOLATION: Final = "trainway.dev/isolation"
"""On a JobSet: what its containers are to be on a single machine."""
MAX_RESTARTS: Final = "trainway.dev/max-restarts"
"""On a TrainJob: no pod is retried on its own, and the whole job restarts at most this often."""
PACK: Final = "trainway.dev/pack"
"""On a job: `true` lets its nodes share machines, `false` gives each a machine of its own."""
JOB_FILES: Final = "trainway.dev/files"
"""On the ConfigMap of the files that travel with a job."""
FUNCTION: Final = "trainway.dev/function"
"""On a job that calls a function whose value is to come back from pods: its name."""

TASK_SECRETS: Final = "trainway.dev/task-secrets"
"""On the Secret of a task's secrets."""
TASK_FILES: Final = "trainway.dev/task-files"
"""For each role the directory of submission, its workdir and its file mounts, as JSON."""
TASK_OPTIONS: Final = "trainway.dev/task-options"
"""For each role what of its task has no place in a JobSet, as JSON."""
CANDIDATES: Final = "trainway.dev/candidates"
"""For each role its candidates, and whether they are in order of preference, as JSON."""

JOB_ID: Final = "trainway.dev/job-id"
"""On everything that is sent to a cluster: by it, it is found and known again."""
SUSPENDED: Final = "trainway.dev/suspended"
"""On the Service of plain Jobs: that they are held; Jobs may also wait for each other."""
KUBERNETES_FORM: Final = "trainway.dev/kubernetes-form"
"""On a job: what it is sent to a cluster as."""
SLURM_OPTIONS: Final = "trainway.dev/slurm-options"
"""On a job: options of sbatch by name, as a JSON object."""
SLURM_MPI: Final = "trainway.dev/slurm-mpi"
"""On a job: how srun itself would start the ranks of MPI."""

ARRAY: Final = "trainway.dev/array"
ARRAY_RANK: Final = "trainway.dev/job-rank"
ARRAY_SIZE: Final = "trainway.dev/num-jobs"
"""On a job of several: the id of the first of them, which one it is, and of how many."""
RUN: Final = "trainway.dev/run"
"""On a job of several: the name of the run that they are."""
PARAMETERS: Final = "trainway.dev/parameters"
"""On a job: the parameters of its trial, as a JSON object of texts."""
CLUSTER: Final = "trainway.dev/cluster"
CLUSTER_JOB: Final = "trainway.dev/cluster-job"
"""On a job of a cluster: the cluster's name, and the job's number there."""

USER: Final = "trainway.dev/user"
"""On a job: who submitted it, by the name on the machine of the submitter."""

TTL_SECONDS: Final = "trainway.dev/ttl-seconds-after-finished"
"""On a TrainJob or MPIJob: how long it is kept after its end."""
HANG_TIMEOUT: Final = "trainway.dev/hang-timeout-seconds"
"""On a TrainJob: how long it may report no progress, once it has reported some."""
HANG_REPORTED: Final = "trainway.dev/hang-reported"
"""The time of the progress after which a hang was reported; the operator writes it."""
BUILD_ERROR: Final = "trainway.dev/build-error"
"""Why the objects of a TrainJob are not there; the operator writes it."""
