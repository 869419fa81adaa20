"""`trainway completion`: what a shell needs to complete our commands."""

import click
from click.shell_completion import ShellComplete, get_completion_class

SHELLS = ("bash", "zsh", "fish")


_HELP = """Print the completion script of a shell.

\b
bash  trainway completion bash > ~/.local/share/bash-completion/completions/trainway
zsh   trainway completion zsh > DIR/_trainway, where DIR is in $fpath
fish  trainway completion fish > ~/.config/fish/completions/trainway.fish
"""


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print it."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click has all three
    root = click.get_current_context().find_root().command
    completion = kind(root, {}, "trainway", "_TRAINWAY_COMPLETE")
    click.echo(ShellComplete.source(completion))  # its own would run bash to learn the version
