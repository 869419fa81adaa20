import asyncio
import io
from collections.abc import AsyncIterator

import pytest

from trainway.server.downloads import contents, headers, pieces_of


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("model.bin", "attachment; filename=\"model.bin\"; filename*=UTF-8''model.bin"),
        ('a";b\n', "attachment; filename=\"a__b_\"; filename*=UTF-8''a%22%3Bb%0A"),
        ("é", "attachment; filename=\"_\"; filename*=UTF-8''%C3%A9"),
    ],
)
def test_a_name_cannot_break_out_of_its_header(name: str, wanted: str) -> None:
    found = headers(name)
    assert found["Content-Disposition"] == wanted
    assert found["Content-Disposition"].isascii()
    assert found["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in found["Content-Security-Policy"]


def test_a_file_that_grows_is_saved_as_long_as_it_was() -> None:
    file = io.BytesIO(b"12345678")

    async def saved() -> list[bytes]:
        return await _all(pieces_of(contents(file, 5)))

    assert b"".join(asyncio.run(saved())) == b"12345"
    assert file.closed


async def _all(pieces: AsyncIterator[bytes]) -> list[bytes]:
    return [piece async for piece in pieces]
