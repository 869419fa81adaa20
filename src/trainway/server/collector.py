"""Python's garbage collector as a server needs it: it may not hold up everybody for long.

By default it looks at all objects after 70,000 new ones, which a decision of the queue about
thousands of jobs makes by itself. With so many jobs such a look takes longer than the decision.
"""

import gc
from typing import Final

_NEW_OBJECTS: Final = 10_000
_LOOKS_BEFORE_OLDER: Final = 20
_LOOKS_BEFORE_ALL: Final = 100


def settle() -> None:
    """Look at what is made from now on, all of it seldom, and never at what was loaded."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _LOOKS_BEFORE_OLDER, _LOOKS_BEFORE_ALL)
    gc.enable()
