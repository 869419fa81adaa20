"""Asks the API server what we may do, by SelfSubjectAccessReviews: everybody may ask that."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from trainway.kube.client import Client
from trainway.kube.errors import ApiError
from trainway.kube.user_rights import Right

_PATH: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

log = logging.getLogger(__name__)


async def missing_rights(client: Client, namespace: str, wanted: Iterable[Right]) -> list[Right]:
    """Those that we do not have; an API server that does not tell is taken to allow all."""
    rights = list(wanted)
    allowed = await asyncio.gather(*(_is_allowed(client, namespace, each) for each in rights))
    return [right for right, is_allowed in zip(rights, allowed, strict=True) if not is_allowed]


async def _is_allowed(client: Client, namespace: str, right: Right) -> bool:
    try:
        answer = await client.raw("POST", _PATH, right.review(namespace))
    except ApiError as error:
        log.info("cannot ask whether we may %s: %s", right, error)
        return True
    return bool((answer.get("status") or {}).get("allowed"))
