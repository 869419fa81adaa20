"""A click group that imports a command only when it is given."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands are named by module.

    Each module has its command as `command`, or under the name that stands behind a colon.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order given."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name, imported now."""
        if cmd_name not in self._modules:
            return None
        module, _, attribute = self._modules[cmd_name].partition(":")
        command = getattr(import_module(module), attribute or "command")
        assert isinstance(command, click.Command)  # noqa: S101 - tells the type checker
        return command
