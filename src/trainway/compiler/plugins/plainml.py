"""PlainML: what every policy but MPI starts from, the number of nodes.

It runs first, so the framework plugins after it find the trainer's count settled.
"""

from trainway.compiler.workload import Workload


class PlainML:
    """Gives the trainer as many pods as the job asks for."""

    name = "PlainML"
    order = 100

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Set the trainer's count."""
        role, policy = workload.trainer, workload.runtime.spec.ml_policy
        if role is None or workload.ml_policy.mpi is not None:
            return
        if policy is not None or workload.settings.num_nodes is not None:
            role.count = workload.num_nodes
