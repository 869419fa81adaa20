"""What is wrong with a value of a request, in the words of all other messages. Pure.

pydantic says "Input should be greater than or equal to 1", which people read who have never sent an
input: they have typed a command, or filled in a form.
"""

from collections.abc import Mapping
from typing import Any, Final

MISSING: Final = "it is missing"
_WHOLE: Final = "it must be a whole number"
_NUMBER: Final = "it must be a number"
_FLAG: Final = "it must be true or false"
_OBJECT: Final = "it must be an object"
_WORDS: Final[Mapping[str, str]] = {
    "missing": MISSING,
    "extra_forbidden": "there is no such field",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "it must be a finite number",
    "bool_type": _FLAG,
    "bool_parsing": _FLAG,
    "string_type": "it must be text",
    "string_too_long": "it may have at most {max_length} characters",
    "string_too_short": "it must have at least {min_length} characters",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "list_type": "it must be a list",
    "too_long": "it may have at most {max_length} entries",
    "too_short": "it must have at least {min_length} entries",
    "enum": "it must be {expected}",
    "literal_error": "it must be {expected}",
}


def no_json(problem: str, place: int) -> str:
    """The words for a body that cannot be read."""
    return f"it is not JSON: {problem} at character {place}"


def plain(error: Mapping[str, Any]) -> str:
    """The words for an error as pydantic lists it; its own where we have none."""
    words = _WORDS.get(str(error["type"]))
    return str(error["msg"]) if words is None else words.format_map(error.get("ctx") or {})
