import pytest

from trainway.compiler.network import JobIdentity, KubernetesNetwork

JOB = JobIdentity("t", "ns", subdomain="net")


@pytest.mark.parametrize(
    ("cluster_domain", "fqdn", "domain"),
    [
        ("", "t-node-0-2.net.ns.svc", "net.ns.svc.cluster.local"),
        ("corp", "t-node-0-2.net.ns.svc.corp", "net.ns.svc.corp"),
    ],
)
def test_names(cluster_domain: str, fqdn: str, domain: str) -> None:
    network = KubernetesNetwork(JOB, cluster_domain)
    assert network.pod_name("node", 2) == "t-node-0-2"
    assert network.host("node", 2, job=1) == "t-node-1-2.net"
    assert network.fqdn("node", 2) == fqdn
    assert network.domain == domain
    assert network.port == 29500
    assert not network.shares_host
    assert network.remote_shell == ""
