import inspect
import re

import pytest

from trainway import errors
from trainway.errors import NotFoundError, TrainwayError

CLASSES = [
    cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, TrainwayError)
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_docstring_lists_every_class_with_its_code_and_statuses(
    cls: type[TrainwayError],
) -> None:
    assert errors.__doc__ is not None
    assert re.search(
        rf"^ *{cls.__name__} .* code {cls.code} +exit {cls.exit_code} +HTTP {cls.http_status}$",
        errors.__doc__,
        re.MULTILINE,
    )


def test_codes_are_unique() -> None:
    assert len({cls.code for cls in CLASSES}) == len(CLASSES)


def test_an_error_carries_message_field_and_hint() -> None:
    error = NotFoundError("no runtime x", field="spec.runtimeRef.name", hint="try y")

    assert str(error) == error.message == "no runtime x"
    assert (error.field, error.hint) == ("spec.runtimeRef.name", "try y")


def test_the_module_imports_nothing() -> None:
    assert "import" not in inspect.getsource(errors).replace("importable", "").split('"""', 2)[2]


@pytest.mark.parametrize(
    ("hint", "sentence"), [(None, "it is wrong"), ("mend it", "it is wrong (mend it)")]
)
def test_one_line_says_what_is_wrong_and_what_to_do(hint: str | None, sentence: str) -> None:
    assert TrainwayError("it is wrong", hint=hint).sentence == sentence
