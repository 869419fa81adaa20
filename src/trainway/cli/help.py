"""The help text of the root command, as it is stored beside `entry`."""

import click

from trainway.cli.app import app

WIDTH = 80


def render() -> str:
    """What click prints for `trainway --help` on a terminal of ordinary width."""
    context = click.Context(app, info_name="trainway", terminal_width=WIDTH, **app.context_settings)
    return app.get_help(context) + "\n"
