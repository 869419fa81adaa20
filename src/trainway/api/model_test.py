import pytest
from pydantic import ValidationError

from trainway.api.model import Condition, Model, ObjectMeta, camel_case
from trainway.api.trainjob import InitializerSource, RuntimeRef


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("storage_uri", "storageUri"),
        ("api_group", "apiGroup"),
        ("ml_policy", "mlPolicy"),
        ("ssh_auth_mount_path", "sshAuthMountPath"),
        ("num_proc_per_node", "numProcPerNode"),
        ("name", "name"),
    ],
)
def test_names_are_those_of_kubernetes(name: str, alias: str) -> None:
    assert camel_case(name) == alias


def test_python_names_and_kubernetes_names_make_the_same_object() -> None:
    assert InitializerSource(storage_uri="s3://a") == InitializerSource.parse(
        {"storageUri": "s3://a"}
    )


def test_fields_never_given_stay_out() -> None:
    assert RuntimeRef(name="torch").to_dict() == {"name": "torch"}
    assert RuntimeRef(name="torch").kind == "ClusterTrainingRuntime"


def test_a_model_cannot_be_changed() -> None:
    ref, field = RuntimeRef(name="torch"), "name"
    with pytest.raises(ValidationError, match="frozen"):
        setattr(ref, field, "jax")


def test_a_model_never_converts_a_value() -> None:
    with pytest.raises(ValidationError, match="should be a valid string"):
        RuntimeRef.parse({"name": 1})


def test_metadata_keeps_what_it_does_not_know() -> None:
    data = {"name": "a", "labels": {"x": "y"}, "generation": 3, "ownerReferences": [{"uid": "1"}]}
    metadata = ObjectMeta.parse(data)
    assert (metadata.name, metadata.namespace, metadata.annotations) == ("a", "", {})
    assert metadata.to_dict() == data


def test_condition() -> None:
    data = {
        "type": "Failed",
        "status": "True",
        "reason": "DeadlineExceeded",
        "message": "",
        "lastTransitionTime": "2026-01-31T12:00:00Z",
    }
    assert Condition.parse(data).to_dict() == data


def test_a_model_is_built_only_when_used() -> None:
    class Late(Model):
        name: str

    assert not Late.__pydantic_complete__
    assert Late(name="a").name == "a"
