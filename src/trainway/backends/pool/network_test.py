from trainway.backends.pool.network import PoolNetwork
from trainway.compiler.network import JobIdentity


def test_pods_have_the_names_of_a_cluster() -> None:
    network = PoolNetwork(JobIdentity("foo", "ns", "foo"), port=20_000)
    assert network.pod_name("node", 1) == "foo-node-0-1"
    assert network.host("node", 1) == "foo-node-0-1.foo"
    assert network.fqdn("node", 1) == "foo-node-0-1.foo.ns.svc"
    assert network.port == 20_000
    assert not network.shares_host
    assert network.remote_shell == "trainway-rsh"
    assert network.cloud == "ssh"
