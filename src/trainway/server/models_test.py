from dataclasses import fields

from trainway.engine.submission import Submission
from trainway.server.models import SubmitOptions


def test_the_options_of_the_api_are_those_of_the_engine() -> None:
    ours = {"objects", "key", "digest", "place", "kept", "stage", "sets_up"}
    known = {field.name for field in fields(Submission)} - ours
    assert set(SubmitOptions.model_fields) == known
    options = SubmitOptions(name="a", labels={"b": "c"}).model_dump()
    assert Submission([], **options) == Submission([], name="a", labels={"b": "c"})
