"""Compilation as a command does it: problems go to stderr, and errors end it."""

from collections.abc import Sequence
from typing import Any

from trainway.cli.output import echo_line
from trainway.cli.refusal import RefusedError
from trainway.compiler.compile import Input, Options, compile_objects
from trainway.runtimes import builtin_runtime


def compile_inputs(
    inputs: Sequence[Input], *, network: str = "kubernetes", redact: bool = False
) -> list[dict[str, Any]]:
    """Compile the inputs to the objects that would be created."""
    options = Options(network=network, redact=redact, builtin_runtime=builtin_runtime)
    outcome = compile_objects(inputs, options)
    if outcome.errors:
        lines = [str(problem) for problem in (*outcome.warnings, *outcome.errors)]
        raise RefusedError(lines, exit_code=1)
    for warning in outcome.warnings:
        echo_line(str(warning))
    return outcome.objects
