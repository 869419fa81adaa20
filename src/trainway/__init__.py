"""Trainway: write a training job once, run it anywhere.

`from trainway import Client` is what a program starts with, and training code calls
`trainway.report`. Every command imports this package, so it imports next to nothing: a name below
is fetched from `trainway.sdk` when it is first used.
"""

from trainway.version import __version__

TYPE_CHECKING = False  # typing's constant; type checkers go by the name, and the import costs
if TYPE_CHECKING:
    from trainway.sdk import AsyncClient, Client, Job, TrainerClient, link, report

__all__ = ["AsyncClient", "Client", "Job", "TrainerClient", "__version__", "link", "report"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from trainway import sdk  # noqa: PLC0415 - only who uses it pays for it

    return getattr(sdk, name)
