from collections.abc import Mapping

import pytest

from trainway.data.flight.settings import parse
from trainway.errors import UsageError

HERE = "head 127.0.0.1 0 --table /t"


def test_upstreams_variables_count_where_words_are_silent() -> None:
    told = {"LWS_GROUP_SIZE": "4", "METADATA_LOC": "s3://b/t", "HEALTH_PORT": "9000"}
    found = parse(["head", "127.0.0.1", "50051"], told)
    assert (found.workers, found.table, found.health_port) == (3, "s3://b/t", 9000)
    assert parse([*HERE.split(), "--workers", "0"], told).workers == 0


@pytest.mark.parametrize(
    ("words", "told", "said"),
    [
        ("--health-port 70000", {}, "70000 is not a port"),
        ("", {"HEALTH_PORT": "many"}, "'many' is not a number"),
        ("", {"LWS_GROUP_SIZE": "x"}, "'x' is not a number"),
        ("--patience nan", {}, "nan is not a number of seconds"),
        ("--patience 1e400", {}, "inf is not a number of seconds"),
        ("--patience 0", {}, "0 is not a number of seconds"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: str, told: Mapping[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse([*HERE.split(), *words.split()], told)
