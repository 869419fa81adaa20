import pytest

from trainway.schema.field import (
    ErrorType,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    key_step,
    not_supported,
    out_of_limits,
    path_text,
    required,
    too_many,
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("spec",), "spec"),
        (("spec", "env", 0, "name"), "spec.env[0].name"),
        (("spec", "annotations", ("a.io/b",)), "spec.annotations[a.io/b]"),
        (("spec", key_step("a.io/b")), "spec[a.io/b]"),
        (("spec", key_step("a_1")), "spec.a_1"),
        (("spec", key_step("1a")), "spec[1a]"),
    ],
)
def test_path(path: Path, text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (required(("a",)), "a: Required value"),
        (required(("a",), "say it"), "a: Required value: say it"),
        (invalid(("a",), -1, "must be 0"), "a: Invalid value: -1: must be 0"),
        (invalid(("a",), "x", "no"), 'a: Invalid value: "x": no'),
        (not_supported(("a",), 3, ("x", 1)), 'a: Unsupported value: 3: supported values: "x", 1'),
        (duplicate(("a", 1), {"name": "A"}), 'a[1]: Duplicate value: {"name":"A"}'),
        (too_many(("a",), 3), "a: Too many: must have at most 3 items"),
        (forbidden(("a",), "not now"), "a: Forbidden: not now"),
        (FieldError((), ErrorType.INVALID, "whole object"), "Invalid value: whole object"),
    ],
)
def test_text(error: FieldError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (0, "must be greater than or equal to 1"),
        (1, ""),
        (2, ""),
        (2.5, "must be less than or equal to 2"),
    ],
)
def test_limits(value: float, detail: str) -> None:
    assert [error.detail for error in out_of_limits((), value, 1, 2)] == (
        [detail] if detail else []
    )
    assert not list(out_of_limits((), value, None, None))


def test_a_long_value_is_cut() -> None:
    text = str(invalid(("a",), "x" * 10_000, "too much"))
    assert len(text) < 200
    assert text.endswith("...: too much")
