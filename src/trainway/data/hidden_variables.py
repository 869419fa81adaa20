"""Variables out of sight while a library reads the environment.

obstore reads all variables of AWS for every store that speaks S3's protocol, and has no word for
"none" where they ask for encryption. For a store that is not of AWS they are taken away as long as
it is made: one store at a time, so that none is made meanwhile that lacks what it should have.
"""

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

_ONE: Final = threading.Lock()


@contextmanager
def hidden(names: Collection[str]) -> Iterator[None]:
    """Have nobody see these variables until the end."""
    with _ONE:
        found = {name: os.environ[name] for name in names if name in os.environ}
        try:
            for name in found:
                del os.environ[name]
            yield
        finally:
            os.environ.update(found)
