"""Which command somebody meant who typed one that does not exist.

Words of other tools are answered with ours, and misspelt ones with the one most like them.
"""

from collections.abc import Collection, Mapping
from typing import Final

_OTHER_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("apply", "create"),
    "attach": ("logs", "shell"),
    "check": ("clouds",),
    "create": ("apply",),
    "describe": ("show",),
    "get": ("show", "list", "ls"),
    "info": ("show",),
    "inspect": ("show",),
    "kill": ("cancel",),
    "list": ("ls", "status", "jobs"),
    "ls": ("list", "status", "jobs"),
    "new": ("apply", "create"),
    "ps": ("list", "ls", "jobs"),
    "remove": ("delete", "rm", "down"),
    "rm": ("delete", "down"),
    "show-gpus": ("gpus",),
    "ssh": ("shell",),
    "status": ("show", "list"),
    "stop": ("cancel", "suspend", "pause"),
    "submit": ("run", "launch"),
    "tail": ("logs",),
    "train": ("run",),
}
"""What commands are called elsewhere, and what they may be called here, the likeliest first."""


def unknown(name: str, known: Collection[str]) -> str:
    """The message about a command that is not there. Pure."""
    from trainway.schema.validation import closest  # noqa: PLC0415 - slow, for a typo alone

    others = (each for each in _OTHER_WORDS.get(name.lower(), ()) if each in known)
    meant = next(others, None) or closest(name, known)
    return f'no command "{name}"' + (f'; did you mean "{meant}"?' if meant else "")
