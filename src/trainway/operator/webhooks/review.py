"""AdmissionReview v1: the question of the API server, and the form of an answer.

A refusal is a 403 whose message has every error in the words of our offline validation. Several
errors stand in brackets, which is how Kubernetes prints a list of them.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from trainway.errors import TrainwayError
from trainway.json_types import Json

API_VERSION: Final = "admission.k8s.io/v1"
UPDATE: Final = "UPDATE"


class UnreadableReviewError(TrainwayError):
    """The body of a request is no AdmissionReview."""

    code = "unreadable"
    http_status = 400


@dataclass(frozen=True, slots=True)
class Question:
    """What someone wants to do to one object."""

    uid: str
    operation: str
    object: Json
    old: Json | None = None
    """The object before an update."""
    user: str = ""
    """The user who asks."""

    @property
    def is_change(self) -> bool:
        """Whether the spec will be another: what is stored already is not judged again.

        An object that is being deleted is let go, whatever it says.
        """
        if self.old is None:
            return True
        if "deletionTimestamp" in self.object["metadata"]:
            return False
        return bool(self.object.get("spec") != self.old.get("spec"))


def read_review(body: bytes) -> Question:
    """The question in the body of a request."""
    try:
        request = orjson.loads(body)["request"]
        uid, operation, obj = request["uid"], request["operation"], request["object"]
        metadata = obj.setdefault("metadata", {})
        if request.get("namespace"):
            metadata.setdefault("namespace", request["namespace"])
        old = request.get("oldObject") if operation == UPDATE else None
        user = str((request.get("userInfo") or {}).get("username", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableReviewError(f"not an AdmissionReview of an object: {error!r}") from None
    return Question(uid, operation, obj, old, user)


def allowed(
    question: Question, *, patch: Sequence[Json] = (), warnings: Iterable[object] = ()
) -> Json:
    """Go ahead, with these changes made to the object."""
    response: Json = {"uid": question.uid, "allowed": True}
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(patch)).decode("ascii")
    return _review(response, warnings)


def denied(
    question: Question, errors: Sequence[object], *, warnings: Iterable[object] = ()
) -> Json:
    """Not like this."""
    texts = [str(error) for error in errors]
    message = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return _refusal(question, 403, "Forbidden", message, warnings)


def failed(question: Question, message: str) -> Json:
    """Cannot say: something that the answer depends on could not be read."""
    return _refusal(question, 500, "InternalError", message, ())


def _refusal(
    question: Question, code: int, reason: str, message: str, warnings: Iterable[object]
) -> Json:
    status = {"status": "Failure", "code": code, "reason": reason, "message": message}
    return _review({"uid": question.uid, "allowed": False, "status": status}, warnings)


def _review(response: Json, warnings: Iterable[object]) -> Json:
    texts = [str(warning) for warning in warnings]
    if texts:
        response["warnings"] = texts
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response}
