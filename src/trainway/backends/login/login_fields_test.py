import pytest

from trainway.backends.login.login_fields import all_expanded, expanded, variables


@pytest.mark.parametrize(
    ("path", "found"),
    [("~", "/home/me"), ("~/key", "/home/me/key"), ("~you/key", "~you/key"), ("/key", "/key")],
)
def test_only_a_tilde_of_ones_own_is_a_home(path: str, found: str) -> None:
    assert expanded(path, "/home/me") == found
    assert all_expanded(["-F", path], "/home/me") == ("-F", found)


def test_variables_may_be_numbers() -> None:
    assert variables({"A": 1, "B": 0.5, "C": 2.0, "D": "x"}) == {
        "A": "1", "B": "0.5", "C": "2", "D": "x",
    }  # fmt: skip
