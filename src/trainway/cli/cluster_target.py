"""What a launch or exec is to run: a file with a task, or a command."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from trainway.cli.refusal import RefusedError
from trainway.errors import InvalidError, UsageError
from trainway.sdk.cluster_submission import FILES
from trainway.sdk.cluster_tasks import ClusterTask, TaskWishes, of_command, of_file
from trainway.sdk.targets import read_manifest


def target(words: Sequence[str], after: Sequence[str] | None, wishes: TaskWishes) -> ClusterTask:
    """The task of a file, or of a command.

    Words before `--` are the text of a shell, as SkyPilot has it; words after it are a command.
    """
    if len(words) == 1 and not after and words[0].endswith(FILES):
        source = words[0]
        text = read_manifest(Path(source))
        try:
            return of_file(text, source, wishes)
        except InvalidError as error:
            lines = [f"{source}: {line}" for line in error.lines]
            raise RefusedError(lines, error.exit_code) from None
    command = " ".join(words)
    if after:
        rest = after[0] if len(after) == 1 else shlex.join(after)
        command = f"{command} {rest}" if command else rest
    if not command.strip():
        raise UsageError("there is nothing to run", hint="give a file with a task, or a command")
    return of_command(command, wishes)
