from trainway.json_types import Json
from trainway.kube.owners import controller_of, is_controlled_by, owner_reference

_OWNER: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "j", "namespace": "n", "uid": "u"},
}


def test_reference_of_a_controller() -> None:
    assert owner_reference(_OWNER) == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": "j",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def test_only_a_controller_controls() -> None:
    plain = owner_reference(_OWNER, controller=False)
    other = owner_reference(_OWNER | {"metadata": {"name": "k", "uid": "w"}})
    child: Json = {"metadata": {"ownerReferences": [plain, other]}}
    assert controller_of(child) == other
    assert is_controlled_by(child, "w")
    assert not is_controlled_by(child, "u")


def test_an_object_without_owners() -> None:
    assert controller_of({"metadata": {}}) is None
    assert not is_controlled_by({"metadata": {"ownerReferences": None}}, "u")
