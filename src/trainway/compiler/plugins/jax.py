"""JAX: the variables that `jax.distributed.initialize` reads."""

from collections.abc import Iterator

from trainway.compiler.plugins.reserved_env import reserved_env_errors
from trainway.compiler.workload import RANK, Workload
from trainway.schema.field import FieldError

RESERVED = ("JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS")


class JAX:
    """Active where the runtime has the policy `jax`. One process per pod."""

    name = "JAX"
    order = 300

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """The job sets none of our variables (defect D17)."""
        if workload.ml_policy.jax is not None:
            yield from reserved_env_errors(workload, RESERVED)

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Set the variables and open the coordinator's port."""
        node, role = workload.node, workload.trainer
        if workload.ml_policy.jax is None or node is None or role is None:
            return
        port = workload.network.port
        node.set_env(
            {"name": "JAX_NUM_PROCESSES", "value": str(role.count)},
            {"name": "JAX_PROCESS_ID", "valueFrom": RANK},
            {"name": "JAX_COORDINATOR_ADDRESS", "value": f"{workload.first_host}:{port}"},
        )
        node.set_port(port)
