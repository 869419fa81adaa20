from trainway.kube.public_config import annotations_entry, annotations_of, system_namespace


def test_annotations_are_read_as_they_were_written() -> None:
    assert annotations_of({"data": annotations_entry(["a/b", "c/d"])}) == {"a/b", "c/d"}


def test_upstreams_operator_lists_none() -> None:
    assert annotations_of({"data": {"kubeflow_trainer_version": "v2.3.0"}}) == frozenset()
    assert annotations_of({}) == frozenset()


def test_the_namespace_is_the_one_that_the_sdk_uses() -> None:
    assert system_namespace({}) == "kubeflow-system"
    assert system_namespace({"KUBEFLOW_SYSTEM_NAMESPACE": "own"}) == "own"
