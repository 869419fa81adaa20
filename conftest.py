"""What all tests share.

A shell that starts something in the background lets it ignore SIGINT, and everything below inherits
that. Tests interrupt themselves and the processes they start, so they must hear it.

Tests of a group (`pytest.mark.xdist_group`) run in one worker of pytest-xdist, which tells it by
their ids: but its version 3.8 changes these where pytest 9.2 does not look any more.

Property tests have no deadline of their own: a machine that is busy is not a defect.
"""

import signal

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Undo what a shell may have set."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)  # after xdist
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test the id that xdist wants it to have."""
    for item in items:
        wanted = vars(item).get("_nodeid")
        if wanted is not None:
            item._id = NodeId.parse(wanted)  # noqa: SLF001 - there is no other way
