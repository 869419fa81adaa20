"""A catalog file in SkyPilot's form, from this machine or from the web, packed or not."""

import zlib
from pathlib import Path
from typing import Final

from trainway.catalog.refresh import download
from trainway.errors import UnreadableError

_MOST: Final = 1 << 30
_PACKED: Final = b"\x1f\x8b"


def text_of(source: Path | str) -> str:
    """What is in it."""
    try:
        body = source.read_bytes() if isinstance(source, Path) else download.content(source)
        if body.startswith(_PACKED):
            unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            body = unpacker.decompress(body, _MOST)
            if unpacker.unconsumed_tail:
                raise UnreadableError(f"{source} is larger than {_MOST >> 30} GiB")
        return body.decode("utf-8-sig")
    except OSError as error:
        raise UnreadableError(f"{source} cannot be read: {error.strerror}") from None
    except (zlib.error, UnicodeDecodeError) as error:
        raise UnreadableError(f"{source} cannot be read: {error}") from None
