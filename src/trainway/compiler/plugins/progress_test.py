from trainway.api.kinds import read
from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.compiler.framework import Framework
from trainway.compiler.keys import FixedKeys
from trainway.compiler.plugins.progress import Progress, StatusEndpoint
from trainway.compiler.registry import built_in_plugins
from trainway.compiler.testing import env, role, runtime, trainjob
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.jobset.model import replicated_jobs

RESOURCE = "trainer.kubeflow.org/v1alpha1/namespaces/ns/trainjobs/t/status"


def test_the_trainer_learns_where_to_report() -> None:
    endpoint = StatusEndpoint("trainer.kubeflow-system.svc", "CERTIFICATE")
    framework = Framework([*built_in_plugins(), Progress(endpoint)])
    job, rt = read(trainjob({})), read(runtime({"torch": {}}, role("other", ""), role()))
    assert isinstance(job, TrainJob)
    assert isinstance(rt, ClusterTrainingRuntime)
    target = Target(keys=FixedKeys(), framework=framework)
    objects = {obj["kind"]: obj for obj in compile_trainjob(job, rt, target).objects}

    assert objects["ConfigMap"]["metadata"]["name"] == "t-tls-config"
    assert objects["ConfigMap"]["data"] == {"ca.crt": "CERTIFICATE"}
    other, trainer = replicated_jobs(objects["JobSet"]["spec"])
    assert "volumes" not in other.pod.spec
    container = trainer.pod.containers[0]
    variables = env(container)
    assert variables["KUBEFLOW_TRAINER_SERVER_URL"] == (
        f"https://trainer.kubeflow-system.svc:10443/apis/{RESOURCE}"
    )
    mounted = "/var/run/secrets/kubeflow/trainer"
    assert variables["KUBEFLOW_TRAINER_SERVER_CA_CERT"] == f"{mounted}/ca.crt"
    assert variables["KUBEFLOW_TRAINER_SERVER_TOKEN"] == f"{mounted}/token"
    assert container.data["volumeMounts"] == [
        {"name": "kubeflow-trainer-token", "mountPath": mounted, "readOnly": True}
    ]
    token = trainer.pod.spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]
    assert token == {"audience": RESOURCE, "expirationSeconds": 3600, "path": "token"}
