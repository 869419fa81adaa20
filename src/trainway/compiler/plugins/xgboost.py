"""XGBoost: the `DMLC_*` variables of the Rabit tracker, which the first pod runs."""

from collections.abc import Iterator

from trainway.compiler.devices import gpus
from trainway.compiler.plugins.reserved_env import ENV_PATH
from trainway.compiler.workload import RANK, Workload
from trainway.schema.field import FieldError, forbidden

RESERVED = ("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER")


class XGBoost:
    """Active where the runtime has the policy `xgboost`. One worker per GPU, else one per node."""

    name = "XGBoost"
    order = 400

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """The job sets none of our variables."""
        if workload.ml_policy.xgboost is None:
            return
        for index, entry in enumerate(workload.settings.env):
            if entry["name"] in RESERVED:
                detail = f"{entry['name']} is reserved for the XGBoost runtime"
                yield forbidden((*ENV_PATH, index), detail)

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Set the variables and open the tracker's port."""
        node, role = workload.node, workload.trainer
        if workload.ml_policy.xgboost is None or node is None or role is None:
            return
        workers = role.count * max(1, gpus(workload.node_resources))
        node.set_env(
            {"name": "DMLC_TRACKER_URI", "value": workload.first_host},
            {"name": "DMLC_TRACKER_PORT", "value": str(workload.network.port)},
            {"name": "DMLC_TASK_ID", "valueFrom": RANK},
            {"name": "DMLC_NUM_WORKER", "value": str(workers)},
        )
        node.set_port(workload.network.port)
