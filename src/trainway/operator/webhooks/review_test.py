import base64
from typing import Any

import orjson
import pytest

from trainway.operator.webhooks.review import (
    Question,
    UnreadableReviewError,
    allowed,
    denied,
    failed,
    read_review,
)

QUESTION = Question("u1", "CREATE", {"metadata": {"name": "a"}})


def review(**request: Any) -> bytes:
    return orjson.dumps({"apiVersion": "admission.k8s.io/v1", "request": request})


def test_a_question_has_the_namespace_of_the_request() -> None:
    body = review(uid="u1", operation="CREATE", namespace="ns", object={"spec": {}}, oldObject=None)
    question = read_review(body)
    assert question == Question("u1", "CREATE", {"spec": {}, "metadata": {"namespace": "ns"}}, None)


def test_only_an_update_has_a_former_object() -> None:
    old = {"metadata": {}, "spec": {"a": 1}}
    body = review(uid="u1", operation="UPDATE", object={"metadata": {}}, oldObject=old)
    assert read_review(body).old == old


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"request": {}}', review(uid="1", operation="C", object=None)]
)
def test_what_is_no_review_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableReviewError, match="not an AdmissionReview"):
        read_review(body)


def test_an_update_that_changes_no_spec_is_no_change() -> None:
    old = {"metadata": {}, "spec": {"a": 1}}
    same = Question("u", "UPDATE", {"metadata": {"labels": {"a": "b"}}, "spec": {"a": 1}}, old)
    other = Question("u", "UPDATE", {"metadata": {}, "spec": {"a": 2}}, old)
    gone = Question("u", "UPDATE", {"metadata": {"deletionTimestamp": "t"}, "spec": {}}, old)
    assert [question.is_change for question in (same, other, gone, QUESTION)] == [
        *(False, True, False, True)
    ]


def test_answers_have_the_form_of_admission_v1() -> None:
    patch = [{"op": "add", "path": "/a", "value": 1}]
    answer = allowed(QUESTION, patch=patch, warnings=["careful"])
    response = answer["response"]
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert orjson.loads(base64.b64decode(response.pop("patch"))) == patch
    assert response == {
        "uid": "u1",
        "allowed": True,
        "patchType": "JSONPatch",
        "warnings": ["careful"],
    }
    assert allowed(QUESTION)["response"] == {"uid": "u1", "allowed": True}


def test_a_refusal_names_all_errors_at_once() -> None:
    assert denied(QUESTION, ["a: Required"])["response"]["status"] == {
        "status": "Failure",
        "code": 403,
        "reason": "Forbidden",
        "message": "a: Required",
    }
    assert denied(QUESTION, ["x", "y"])["response"]["status"]["message"] == "[x, y]"
    assert failed(QUESTION, "no answer")["response"]["status"]["code"] == 500
