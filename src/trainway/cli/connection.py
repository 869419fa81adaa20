"""The server as commands reach it; what it has to say beside the answer goes to stderr."""

from trainway.cli.output import echo_line
from trainway.cli.upload_view import UploadView
from trainway.sdk.rest import Rest


def connect() -> Rest:
    """The server of the environment, or the embedded one, which is started if need be."""
    rest = Rest.connect(warn=lambda message: echo_line(f"warning: {message}"))
    rest.on_upload = UploadView().show
    return rest
