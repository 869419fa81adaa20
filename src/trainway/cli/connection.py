"""The server as commands reach it; what it has to say beside the answer goes to stderr."""

import sys

import click

from trainway.cli.notices import show_notices
from trainway.cli.output import echo_line
from trainway.cli.upload_view import UploadView
from trainway.errors import TrainwayError
from trainway.sdk.address import Home, configured_address
from trainway.sdk.rest import Rest


def connect() -> Rest:
    """The server of the environment, or the embedded one, which is started if need be."""
    rest = Rest.connect(warn=lambda message: echo_line(f"warning: {message}"))
    expect_notices()
    rest.on_upload = UploadView().show
    return rest


def expect_notices() -> None:
    """Say at the end of the command what the embedded server has left word of."""
    context = click.get_current_context(silent=True)
    if context is not None and configured_address() is None:
        context.call_on_close(_show_notices)


def _show_notices() -> None:
    is_well = not isinstance(sys.exc_info()[1], TrainwayError)
    show_notices(Home.of_environment(), is_well=is_well)
