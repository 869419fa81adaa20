from trainway.backends.slurm.network import SlurmNetwork
from trainway.compiler.network import JobIdentity


def test_pods_are_called_as_in_a_cluster() -> None:
    network = SlurmNetwork(JobIdentity("demo", "default", "demo"), port=20_000)
    assert network.host("node", 1) == "demo-node-0-1.demo"
    assert (network.remote_shell, network.cloud) == ("trainway-srun", "slurm")
    assert not network.shares_host
