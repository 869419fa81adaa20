"""What a server makes at its start, and what only who reads the description pays for."""

from unittest.mock import MagicMock

from fastapi.routing import APIRoute

from trainway.server.app import create_app
from trainway.server.models import Job


def test_answers_are_described_without_being_made_at_the_start() -> None:
    app = create_app(MagicMock())
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert routes
    assert all(route.response_field is None for route in routes)
    described = app.openapi()
    answers = described["paths"]["/api/v1/jobs/{ref}"]["get"]["responses"]
    assert answers["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Job")
    assert answers["default"]["description"] == "an error"
    named = Job.model_fields["spec"].annotation
    assert named is not None
    assert "replacedBy" in described["components"]["schemas"][named.__name__]["properties"]
    assert app.openapi() is described
