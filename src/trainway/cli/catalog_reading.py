"""The catalog of clouds as commands open it: the user's own files, compiled into their cache."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from trainway.catalog.sources import cache_folder, open_catalog
from trainway.catalog.store import Catalog
from trainway.sdk.address import Home


@contextmanager
def user_catalog() -> Iterator[Catalog]:
    """The catalog, open for as long as a command needs it."""
    cache = cache_folder(os.environ)
    with closing(open_catalog(Home.of_environment().path, cache, os.environ)) as catalog:
        yield catalog
