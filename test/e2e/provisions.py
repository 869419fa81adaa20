"""`python provisions.py [programs] [environments]`: get what tests would get on first use.

CI does so while other tests run: a test that comes later need not wait for compilers and
downloads, and its processor is not taken from the test beside it. What cannot be had is said here,
and found again by the test that needs it.
"""

import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import environments
import pytest
from cloud_stores import azurite, fake_gcs_server
from environments import environment
from s3_server import versitygw

log = logging.getLogger(__name__)

KINDS: Final[Mapping[str, Sequence[Callable[[], object]]]] = {
    "programs": [versitygw, fake_gcs_server],
    "environments": [azurite, *(partial(environment, *each) for each in environments.USUAL)],
}
"""What is compiled, and what is fetched: these go well together."""


def main(kinds: Sequence[str]) -> int:
    """Get all of these kinds, one after the other; gives the exit status."""
    return max(get(provision) for kind in kinds or KINDS for provision in KINDS[kind])


def get(provision: Callable[[], object]) -> int:
    """Get one of them, and say how long that took, or why it failed."""
    started = time.monotonic()
    try:
        made = provision()
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        log.warning("%s", error)
        return 1
    log.info("%s: here after %.0f s", made, time.monotonic() - started)
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    sys.exit(main(sys.argv[1:]))
