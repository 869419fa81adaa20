import pytest

from trainway.cli.metrics_option import with_value

NAME = "--metrics-from-logs"
GROUP = "(?P<loss>.*)"


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["a.py", "b"], ["a.py", "b"]),
        ([NAME, "a.py"], [f"{NAME}=", "a.py"]),
        ([NAME, "--name", "x", "a.py"], [f"{NAME}=", "--name", "x", "a.py"]),
        (["a.py", NAME], ["a.py", f"{NAME}="]),
        ([NAME, GROUP, "a.py"], [f"{NAME}={GROUP}", "a.py"]),
        ([f"{NAME}={GROUP}", "a.py"], [f"{NAME}={GROUP}", "a.py"]),
        ([NAME, NAME, GROUP], [f"{NAME}=", f"{NAME}={GROUP}"]),
    ],
)
def test_a_value_that_may_be_missing(words: list[str], read: list[str]) -> None:
    assert list(with_value(words)) == read
