import pytest

from trainway.compiler.plugins.flux_scripts import (
    FluxCluster,
    entrypoint_script,
    hostlist,
    init_script,
)
from trainway.compiler.testing import compiled, found, jobs, messages, node, role, runtime, trainjob

CLUSTER = FluxCluster(("t-node-0-0", "t-node-0-1"), "t.ns.svc.cluster.local", 2, 0, "eth0", "fcfs")


def test_the_command_is_wrapped_and_arguments_of_the_runtime_stay() -> None:
    rt = runtime({"flux": {"numProcPerNode": 4}}, role(command=["app"], args=["--own"]))
    container = node(compiled(rt, trainjob({"numNodes": 2, "args": ["--epochs", "3"]})))
    assert container.command == ["/bin/bash", "/etc/flux-config/entrypoint.sh", "app --epochs 3"]
    assert container.data["args"] == ["--own"]


def test_settings_come_from_variables_the_job_s_last() -> None:
    own = [
        {"name": "FLUX_VIEW_IMAGE", "value": "a"},
        {"name": "FLUX_QUEUE_POLICY", "value": "easy"},
    ]
    job = trainjob({"numNodes": 2, "env": [{"name": "FLUX_VIEW_IMAGE", "value": "b"}]})
    outcome = compiled(runtime({"flux": {}}, role(env=own)), job)
    assert jobs(outcome)["node"].pod.init_containers[0].data["image"] == "b"
    assert 'queue-policy = "easy"' in found(outcome, "ConfigMap")["data"]["init.sh"]
    assert found(outcome, "Secret")["data"] == {"curve.cert": "REDACTED"}


def test_the_installer_s_name_is_taken() -> None:
    rt = runtime({"flux": {}})
    pod = rt["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["initContainers"] = [{"name": "flux-installer", "image": "x"}]
    (message,) = messages(rt, trainjob({}))
    assert message.startswith("spec.trainer.initContainers: Invalid value")


@pytest.mark.parametrize(
    ("gpus", "flags", "resources"),
    [(0, "-N 2 -n 4", "--cores=0-1 >"), (1, "-N 2 -n 4 -g 1", "--cores=0-1 --gpu=0 >")],
)
def test_flags(gpus: int, flags: str, resources: str) -> None:
    cluster = FluxCluster(CLUSTER.hosts, CLUSTER.domain, 2, gpus, "eth0", "fcfs")
    script = entrypoint_script(cluster)
    assert f'flags="{flags}"' in script
    assert resources in script
    assert 'lead="t-node-0-0"' in script


def test_brokers_know_hosts_device_and_domain() -> None:
    script = init_script(CLUSTER)
    assert 'hosts = [ { host = "t-node-0-[0-1]" } ]' in script
    assert 'default_bind = "tcp://eth0:%p"' in script
    assert 'default_connect = "tcp://%h.t.ns.svc.cluster.local:%p"' in script


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        (["a-0"], "a-[0]"),
        (["a-0", "a-1", "a-2"], "a-[0-2]"),
        (["a-1", "a-2"], "a-1,a-2"),
        (["left", "right"], "left,right"),
        ([], ""),
    ],
)
def test_hostlist(hosts: list[str], text: str) -> None:
    assert hostlist(hosts) == text
