"""The application as a whole: what is made at its start and what later, and its description."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

from trainway.server.app import declared_api
from trainway.server.bound_route import BoundRoute
from trainway.server.models import Job
from trainway.server.routes.docs import Description
from trainway.server.testing_site import Site, play

START = """
import json, sys
from unittest.mock import MagicMock
import trainway.server.serving
from trainway.server.app import create_app
from trainway.server.bound_route import BoundRoute
bound = [route for route in create_app(MagicMock()).routes if isinstance(route, BoundRoute)]
routes = [route.declaration for route in bound]
answers = [route.described.get("response_model") for route in routes]
made = [kind.__name__ for kind in answers if kind is not None and kind.__pydantic_complete__]
of_fastapi = [name for name in sys.modules if name.partition(".")[0] == "fastapi"]
print(json.dumps([len(answers), made, of_fastapi]))
"""


def test_a_server_starts_without_fastapi_and_without_the_models_of_its_answers() -> None:
    ran = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    routes, made, of_fastapi = json.loads(ran.stdout)
    assert routes > 40
    assert made == ["Progress", "Progress"]  # which is what is sent, too
    assert of_fastapi == []


def test_the_parameters_of_a_route_are_read_at_its_first_request(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        routes = [route for route in site.app.routes if isinstance(route, BoundRoute)]
        assert not [route for route in routes if "binding" in vars(route)]
        assert (await site.ask("GET", "/health"))[0] == 200
        (bound,) = [route for route in routes if "binding" in vars(route)]
        assert bound.declaration.path == "/api/v1/health"

    play(tmp_path, scene)


def test_the_pattern_of_a_path_is_compiled_when_a_path_begins_like_it(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        routes = [route for route in site.app.routes if isinstance(route, BoundRoute)]
        assert not [route for route in routes if "route" in vars(route)]
        assert (await site.ask("GET", "/health"))[0] == 200
        assert (await site.ask("GET", "/server"))[0] == 200
        compiled = {route.declaration.path for route in routes if "route" in vars(route)}
        assert compiled == {"/api/v1/health", "/api/v1/server"}

    play(tmp_path, scene)


def test_the_description_tells_what_routes_take_and_give(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        status, described = await site.ask("GET", "/openapi.json")
        assert status == 200
        events = described["paths"]["/api/v1/jobs/{ref}/events"]["get"]
        after = {one["name"]: one for one in events["parameters"]}["after"]
        assert after["in"] == "query"
        assert after["schema"]["exclusiveMaximum"] == 2**31
        answers = described["paths"]["/api/v1/jobs/{ref}"]["get"]["responses"]
        assert answers["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Job")
        assert answers["default"]["description"] == "an error"
        named = Job.model_fields["spec"].annotation
        assert named is not None
        assert "replacedBy" in described["components"]["schemas"][named.__name__]["properties"]
        assert (await site.ask("HEAD", "/openapi.json"))[0] == 200
        assert (await site.ask("HEAD", "/docs"))[0] == 405

    play(tmp_path, scene)


def test_the_description_is_made_once() -> None:
    description = Description(declared_api(MagicMock()))

    async def read() -> None:
        first, second = await asyncio.gather(description.read(), description.read())
        assert first is second is await description.read()

    asyncio.run(read())
