"""The catalog of clouds as commands open it: the user's own files, compiled into their cache."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from trainway.catalog.sources import open_catalog
from trainway.catalog.store import Catalog
from trainway.sdk.address import Home


@contextmanager
def user_catalog() -> Iterator[Catalog]:
    """The catalog, open for as long as a command needs it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    cache = Path(base) / "trainway"
    with closing(open_catalog(Home.of_environment().path, cache, os.environ)) as catalog:
        yield catalog
