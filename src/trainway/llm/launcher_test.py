from types import SimpleNamespace

import pytest

from trainway.errors import UnavailableError
from trainway.llm.installation import NEEDED, check_installed
from trainway.llm.launcher import exit_code


@pytest.mark.parametrize(("code", "ends"), [(1, 1), (2, 2), (-9, 137), (-15, 143)])
def test_a_node_ends_as_its_first_failure(code: int, ends: int) -> None:
    failure = SimpleNamespace(exitcode=code)
    assert exit_code(SimpleNamespace(get_first_failure=lambda: (0, failure))) == ends


def test_what_is_missing_is_named() -> None:
    check_installed(lambda name: name)
    with pytest.raises(UnavailableError) as raised:
        check_installed(lambda name: None if name in ("trl", "peft") else name)
    assert raised.value.message.startswith("trl, peft cannot be imported by")
    assert raised.value.hint == "install it there: pip install trl peft"
    assert "torch" in NEEDED
