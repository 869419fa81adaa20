"""`python -m trainway.llm sft|dpo [--config FILE] [NAME=VALUE]...`: what a job starts."""

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from trainway.errors import TrainwayError, UnreadableError, UsageError
from trainway.llm.columns import template_error
from trainway.llm.configuration import Task, configured
from trainway.llm.disk import full_disk


def main(argv: list[str]) -> int:
    """Train; what is wrong is said in one place, by the first process."""
    parser = argparse.ArgumentParser(
        prog="python -m trainway.llm",
        description="Fine-tune a language model with TRL.",
        epilog="Settings: see docs/finetuning.md. Words win over the file.",
    )
    parser.add_argument("task", choices=[each.value for each in Task])
    parser.add_argument("--config", metavar="FILE", help="A YAML file with settings.")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE")
    given = parser.parse_intermixed_args(argv)
    try:
        settings = _read(given.config) if given.config else {}
        config = configured(settings, given.settings, given.config or "settings")
        from trainway.llm.training import train  # noqa: PLC0415 - what is wrong is said before

        train(Task(given.task), config)
    except TrainwayError as error:
        return _fail(error)
    except Exception as error:  # noqa: BLE001 - told as it is, and memory as a sentence
        from trainway.llm.training import is_out_of_memory, output_of  # noqa: PLC0415 - as above

        full = full_disk(error, output_of(config))
        known = full or is_out_of_memory(error) or template_error(error)
        if known is None:
            traceback.print_exc()
            return 1
        return _fail(known, is_own=full is not None)
    return 0


def _read(name: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - words need no YAML

    try:
        found = yaml.safe_load(Path(name).read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{name}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(f"{name}: it is no YAML: {error}") from None
    if not isinstance(found or {}, dict):
        raise UsageError(f"{name}: it must be a table of settings", hint="write model: PATH")
    return dict(found or {})


def _fail(error: TrainwayError, *, is_own: bool = False) -> int:
    """Say what is wrong; what only this process met, whichever it is."""
    if is_own or os.environ.get("RANK", "0") == "0":
        print(f"error: {error.message}", file=sys.stderr)  # noqa: T201 - the log of the job
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)  # noqa: T201 - as above
        sys.stderr.flush()
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
