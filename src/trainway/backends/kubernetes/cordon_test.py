import asyncio
from typing import Any

import pytest

from trainway.backends.kubernetes.cordon import cordon
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import NODES


class ScriptedClient:
    """Takes changes of one node."""

    def __init__(self) -> None:
        self.sent: list[tuple[object, str, str, Json]] = []

    async def patch(self, resource: object, name: str, namespace: str, body: Json) -> Json:
        if name != "n1":
            raise ObjectNotFound(f"nodes {name!r} not found")
        self.sent.append((resource, name, namespace, body))
        return {}


def test_a_node_is_cordoned_and_uncordoned() -> None:
    client: Any = ScriptedClient()
    asyncio.run(cordon(client, "c", "n1", is_cordoned=True))
    asyncio.run(cordon(client, "c", "n1", is_cordoned=False))
    assert client.sent == [
        (NODES, "n1", "", {"spec": {"unschedulable": True}}),
        (NODES, "n1", "", {"spec": {"unschedulable": None}}),
    ]


def test_a_node_that_is_not_there_is_named() -> None:
    client: Any = ScriptedClient()
    with pytest.raises(NotFoundError, match="context c has no node n2"):
        asyncio.run(cordon(client, "c", "n2", is_cordoned=True))
