import pytest

from trainway.compiler.testing import compiled, env, jobs, messages, role, runtime, trainjob
from trainway.json_types import Json

MOUNT = [{"name": "initializer", "mountPath": "/workspace"}]
STEPS = ("dataset-initializer", "model-initializer")


def full_runtime(**container: object) -> Json:
    return runtime(
        {"torch": {}}, *(role(s, s, volumeMounts=MOUNT, **container) for s in STEPS), role()
    )


def test_uri_variables_and_secret_reach_the_initializer() -> None:
    own = [{"name": "STORAGE_URI", "value": "hf://old"}, {"name": "KEEP", "value": "1"}]
    dataset = {
        "storageUri": "hf://org/data",
        "env": [{"name": "IGNORE_PATTERNS", "value": "*.bin"}],
        "secretRef": {"name": "token"},
    }
    outcome = compiled(full_runtime(env=own), trainjob({}, initializer={"dataset": dataset}))
    fetcher = jobs(outcome)["dataset-initializer"].pod.containers[0]
    assert env(fetcher) == {
        "STORAGE_URI": "hf://org/data",
        "KEEP": "1",
        "IGNORE_PATTERNS": "*.bin",
    }
    assert fetcher.data["envFrom"] == [{"secretRef": {"name": "token"}}]
    untouched = jobs(outcome)["model-initializer"].pod.containers[0]
    assert env(untouched)["STORAGE_URI"] == "hf://old"


@pytest.mark.parametrize(
    ("roles", "text"),
    [
        (
            [role("model-initializer", "")],
            "must have container with name - model-initializer in the model-initializer job",
        ),
        (
            [role("model-initializer", "model-initializer")],
            "must have volumeMount with name - initializer in container model-initializer",
        ),
    ],
)
def test_what_the_runtime_lacks(roles: list[Json], text: str) -> None:
    job = trainjob({}, initializer={"model": {"storageUri": "hf://org/model"}})
    (message,) = messages(runtime({"torch": {}}, *roles, role()), job)
    assert message.startswith('spec.runtimeRef: Invalid value: "some-runtime": ')
    assert text in message
