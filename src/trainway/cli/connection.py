"""The server as commands reach it; what it has to say beside the answer goes to stderr."""

from trainway.cli.output import echo_line
from trainway.sdk.rest import Rest


def connect() -> Rest:
    """The server of the environment, or the embedded one, which is started if need be."""
    return Rest.connect(warn=lambda message: echo_line(f"warning: {message}"))
