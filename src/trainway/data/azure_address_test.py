from datetime import UTC, datetime

import pytest

from trainway.data.azure_address import address

UNTIL = datetime(2026, 11, 18, 16, 0, 0, tzinfo=UTC)
ME = {"AZURE_STORAGE_ACCOUNT_NAME": "me"}
KEY = {**ME, "AZURE_STORAGE_ACCOUNT_KEY": "aHVzaA=="}


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, ""),
        (ME, ""),
        ({"AZURE_STORAGE_SAS_TOKEN": "?sv=1&sig=s"}, ""),
        ({**ME, "AZURE_STORAGE_ACCOUNT_KEY": "no key"}, ""),
        (
            {**ME, "AZURE_STORAGE_SAS_TOKEN": "?sv=1&sig=s"},
            "https://me.blob.core.windows.net/box/a%20b/%C3%BC?sv=1&sig=s",
        ),
        (
            {"AZURE_STORAGE_ENDPOINT": "http://here/me/", "AZURE_STORAGE_SAS_KEY": "sig=s"},
            "http://here/me/box/a%20b/%C3%BC?sig=s",
        ),
    ],
)
def test_an_address_with_a_sas_token(variables: dict[str, str], wanted: str) -> None:
    assert address(variables, "box", "a b/ü", "PUT", UNTIL) == wanted


def test_a_key_makes_a_token_for_one_blob_and_a_while() -> None:
    made = address(KEY, "box", "a b/ü", "PUT", UNTIL)
    begin = (
        "https://me.blob.core.windows.net/box/a%20b/%C3%BC?sv=2021-08-06&sr=b&sp=w&se=2026-11-18"
    )
    assert made.startswith(begin)
    assert "aHVzaA" not in made
    others = (
        address(KEY, "box", "other", "PUT", UNTIL),
        address(KEY, "box", "a b/ü", "GET", UNTIL),
        address({**KEY, "AZURE_STORAGE_SAS_TOKEN": "sig=s"}, "box", "a b/ü", "PUT", UNTIL),
    )
    signed = [each.rpartition("sig=")[2] for each in (made, *others)]
    assert len(set(signed)) == 3, "each blob and request its own"
    assert signed[0] == signed[3], "the key counts, as obstore has it"
