"""Where each webhook is served. Those of Trainer are upstream's, so its configurations fit."""

from typing import Final

MUTATE_TRAINJOB: Final = "/mutate-trainer-kubeflow-org-v1alpha1-trainjob"
VALIDATE_TRAINJOB: Final = "/validate-trainer-kubeflow-org-v1alpha1-trainjob"
VALIDATE_TRAINING_RUNTIME: Final = "/validate-trainer-kubeflow-org-v1alpha1-trainingruntime"
VALIDATE_CLUSTER_TRAINING_RUNTIME: Final = (
    "/validate-trainer-kubeflow-org-v1alpha1-clustertrainingruntime"
)
MUTATE_MPIJOB: Final = "/mutate-kubeflow-org-v2beta1-mpijob"
VALIDATE_MPIJOB: Final = "/validate-kubeflow-org-v2beta1-mpijob"
