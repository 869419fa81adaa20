"""Budgets, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.json_types import Json
from trainway.server.testing_site import Site, play


async def put(site: Site, name: str, **body: Any) -> tuple[int, Json]:
    return await site.ask("PUT", f"/budgets/{name}", json.dumps(body).encode())


def test_budgets_are_kept_and_wrong_ones_refused(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, made = await put(site, "nlp", label="team=nlp", monthly=12.5)
        assert (status, made["label"], made["monthly"], made["state"]) == (
            200, "team=nlp", 12.5, "fine",
        )  # fmt: skip
        status, made = await put(site, "ann", user="ann", monthly=1)
        assert (made["user"], made["label"]) == ("ann", None)
        _, listed = await site.ask("GET", "/budgets")
        assert [each["name"] for each in listed["items"]] == ["ann", "nlp"]
        for body in (
            {"monthly": 1},
            {"user": "a", "label": "b=c", "monthly": 1},
            {"label": "team", "monthly": 1},
            {"user": "not a user", "monthly": 1},
        ):
            status, answer = await put(site, "x", **body)
            assert (status, answer["error"]["code"]) == (400, "usage"), body
        for amount in (0, -1, 1e12, "much"):
            status, _ = await put(site, "x", user="a", monthly=amount)
            assert status == 422
        assert (await site.ask("DELETE", "/budgets/nlp"))[0] == 200
        assert (await site.ask("DELETE", "/budgets/nlp"))[0] == 404

    play(tmp_path, scene)
