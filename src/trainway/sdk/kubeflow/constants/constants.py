"""Names and values that code written for the kubeflow SDK looks up.

The commands that upstream's client puts into a TrainJob are not here: ours makes others.
"""

import os
from typing import Final

from trainway.jobset import labels

GROUP: Final = "trainer.kubeflow.org"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
CLUSTER_TRAINING_RUNTIME_PLURAL: Final = "clustertrainingruntimes"
TRAINING_RUNTIME_PLURAL: Final = "trainingruntimes"
TRAINJOB_KIND: Final = "TrainJob"
TRAINJOB_PLURAL: Final = "trainjobs"

TRAINJOB_CREATED: Final = "Created"
TRAINJOB_RUNNING: Final = "Running"
TRAINJOB_COMPLETE: Final = "Complete"
TRAINJOB_FAILED: Final = "Failed"
POD_PENDING: Final = "Pending"
POD_SUCCEEDED: Final = "Succeeded"

TRAINJOB_ANCESTOR_LABEL: Final = labels.ANCESTOR_STEP
RUNTIME_FRAMEWORK_LABEL: Final = labels.FRAMEWORK
JOBSET_NAME_LABEL: Final = labels.JOBSET_NAME
JOBSET_RJOB_NAME_LABEL: Final = labels.REPLICATED_JOB_NAME
JOB_INDEX_LABEL: Final = labels.COMPLETION_INDEX

DATASET_INITIALIZER: Final = "dataset-initializer"
MODEL_INITIALIZER: Final = "model-initializer"
LAUNCHER: Final = "launcher"
NODE: Final = "node"
POD_LABEL_SELECTOR: Final = (
    f"{JOBSET_NAME_LABEL}={{trainjob_name}},{JOBSET_RJOB_NAME_LABEL} "
    f"in ({DATASET_INITIALIZER}, {MODEL_INITIALIZER}, {LAUNCHER}, {NODE})"
)

INITIALIZER_ENV_ACCESS_TOKEN: Final = "ACCESS_TOKEN"  # noqa: S105 (the name of a variable)
INITIALIZER_DEFAULT_IGNORE_PATTERNS: Final = ["*.msgpack", "*.h5", "*.bin", "*.pt", "*.pth"]
WORKSPACE_PATH: Final = "/workspace"
DATASET_PATH: Final = f"{WORKSPACE_PATH}/dataset"
MODEL_PATH: Final = f"{WORKSPACE_PATH}/model"

CPU_LABEL: Final = "cpu"
GPU_LABEL: Final = "nvidia.com/gpu"
GPU_MIG_PREFIX: Final = "nvidia.com/mig-"
TPU_LABEL: Final = "google.com/tpu"
NPU_LABEL: Final = "huawei.com/Ascend910"

DEFAULT_PIP_INDEX_URLS: Final = os.environ.get(
    "DEFAULT_PIP_INDEX_URLS", "https://pypi.org/simple"
).split(",")
DEFAULT_TRAINING_RUNTIME: Final = os.environ.get("DEFAULT_TRAINING_RUNTIME", "torch-distributed")
DEFAULT_MPI_USER_HOME: Final = os.environ.get("DEFAULT_MPI_USER_HOME", "/home/mpiuser")
DEFAULT_FRAMEWORK_IMAGES: Final = {"torch": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"}
TORCH_ENV_NUM_PROC_PER_NODE: Final = "PET_NPROC_PER_NODE"
TORCH_TUNE_COMMAND: Final = ("tune", "run")
TORCH_TUNE_INSTRUCT_DATASET: Final = "torchtune.datasets.instruct_dataset"
JOB_NAME_UUID_LENGTH: Final = 11
