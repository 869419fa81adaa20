"""Text that is to stay as it is where Kubernetes would replace `$(NAME)` in it."""

import re


def literal(text: str) -> str:
    """The text as it is written in a command, in arguments, or in the value of a variable."""
    return re.sub(r"\$(?=[$(])", "$$", text)
