"""The test cluster itself: what the other tests of this folder rely on."""

from cluster.control_plane import ControlPlane


def test_it_is_the_pinned_kubernetes_as_seen_by_kubectl(
    api_cluster: ControlPlane, namespace: str
) -> None:
    api_cluster.kubectl("create", "configmap", "note", "--from-literal=a=1", "-n", namespace)
    assert api_cluster.get("configmap", "note", "-n", namespace)["data"] == {"a": "1"}


def test_data_and_address_survive_a_killed_api_server(
    api_cluster: ControlPlane, namespace: str
) -> None:
    api_cluster.kubectl("create", "configmap", "kept", "--from-literal=a=1", "-n", namespace)
    server = api_cluster.server
    api_cluster.restart_api_server()
    assert api_cluster.server == server
    assert api_cluster.get("configmap", "kept", "-n", namespace)["data"] == {"a": "1"}


def test_the_kinds_of_jobset_and_ours_are_served(api_cluster: ControlPlane, namespace: str) -> None:
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()
    for kind in (
        "jobsets.jobset.x-k8s.io",
        "trainjobs.trainer.kubeflow.org",
        "mpijobs.kubeflow.org",
    ):
        assert api_cluster.get(kind, "-n", namespace)["items"] == []
