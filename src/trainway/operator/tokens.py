"""Whether the bearer of a token may report the progress of a TrainJob.

Each job has an audience of its own, so a token that a pod got for one job is of no use for another.
The API server is asked (TokenReview): it also knows whether the pod of a token is still there,
which a signature cannot tell, and it needs no route to the issuer's keys. Good answers are
remembered for some seconds, since trainers report often.
"""

import hashlib
import time
from collections.abc import Callable
from typing import Final, Protocol

from trainway.json_types import Json
from trainway.kube.resources import TOKEN_REVIEWS, Resource

REMEMBER_SECONDS: Final = 15.0
_MOST_REMEMBERED: Final = 10_000
_LONGEST_TOKEN: Final = 16 * 1024
_SCHEME: Final = "bearer "


class Creator(Protocol):
    """The part of a client that is needed here."""

    async def create(self, resource: Resource, obj: Json) -> Json:
        """Make an object."""
        ...


def audience(namespace: str, name: str) -> str:
    """Whom a token must be meant for, to report on this job."""
    return f"trainer.kubeflow.org/v1alpha1/namespaces/{namespace}/trainjobs/{name}/status"


def bearer(header: str) -> str:
    """The token in an Authorization header; empty if there is none."""
    if header[: len(_SCHEME)].lower() != _SCHEME:
        return ""
    return header[len(_SCHEME) :].strip()


def token_review(token: str, wanted: str) -> Json:
    """The question to the API server."""
    return {
        "apiVersion": TOKEN_REVIEWS.api_version,
        "kind": TOKEN_REVIEWS.kind,
        "spec": {"token": token, "audiences": [wanted]},
    }


def is_granted(review: Json, wanted: str, namespace: str) -> bool:
    """Whether the answer is: a service account of this namespace, for this audience."""
    status = review.get("status") or {}
    user = (status.get("user") or {}).get("username") or ""
    return (
        status.get("authenticated") is True
        and wanted in (status.get("audiences") or ())
        and user.startswith(f"system:serviceaccount:{namespace}:")
    )


class Tokens:
    """Asks about tokens, and remembers good answers for a while."""

    def __init__(self, client: Creator, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._monotonic = monotonic
        self._granted: dict[bytes, float] = {}
        """Until when an answer holds, oldest first."""

    async def permits(self, header: str, namespace: str, name: str) -> bool:
        """Whether the bearer of this Authorization header may report on the job."""
        token = bearer(header)
        if not token or len(token) > _LONGEST_TOKEN:
            return False
        wanted = audience(namespace, name)
        key = hashlib.sha256(f"{wanted} {token}".encode()).digest()
        if self._granted.get(key, 0.0) > self._monotonic():
            return True
        review = await self._client.create(TOKEN_REVIEWS, token_review(token, wanted))
        if not is_granted(review, wanted, namespace):
            return False
        self._remember(key)
        return True

    def _remember(self, key: bytes) -> None:
        self._granted.pop(key, None)
        self._granted[key] = self._monotonic() + REMEMBER_SECONDS
        if len(self._granted) > _MOST_REMEMBERED:
            now = self._monotonic()
            self._granted = {known: end for known, end in self._granted.items() if end > now}
        while len(self._granted) > _MOST_REMEMBERED:
            del self._granted[next(iter(self._granted))]
