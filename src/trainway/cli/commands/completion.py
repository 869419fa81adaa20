"""`trainway completion`: what a shell needs to complete our commands."""

import click

from trainway.cli.completion_scripts import SHELLS

_HELP = """Print the completion script of a shell.

To turn completion on, run the lines of your shell and open a new one.

\b
bash:
  trainway completion bash > ~/.trainway-completion.bash
  echo 'source ~/.trainway-completion.bash' >> ~/.bashrc

\b
zsh:
  trainway completion zsh > ~/.trainway-completion.zsh
  echo 'source ~/.trainway-completion.zsh' >> ~/.zshrc

\b
fish:
  mkdir -p ~/.config/fish/completions
  trainway completion fish > ~/.config/fish/completions/trainway.fish
"""


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print it."""
    root = click.get_current_context().find_root().command
    click.echo(SHELLS[shell](root, {}, "trainway", "_TRAINWAY_COMPLETE").source())
