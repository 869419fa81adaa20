"""Where the console script starts.

Help and version are answered from here without click, because importing it takes several times as
long as Python needs to start. The stored text is what click would print; a test compares the two.
"""

import sys

_HELP = "help.txt"
_MANY_OBJECTS = 100_000
"""More objects than all modules of a command bring: while they are imported there is nothing to
collect."""


def main() -> int:
    """Run the command line and give its exit status."""
    try:
        match sys.argv[1:]:
            case [] if not _is_completing():
                return _print(_stored_help())
            case ["-h"] | ["--help"]:
                return _print(_stored_help())
            case ["--version"]:
                return _print(_version())
        import gc  # noqa: PLC0415 - what follows needs it, help and version do not

        gc.set_threshold(_MANY_OBJECTS)
        from trainway.cli.app import app  # noqa: PLC0415 - this is the import to put off

        if _is_completing():
            from trainway.cli.completion_scripts import register  # noqa: PLC0415 - as above

            register()
        app.main(prog_name="trainway")
    except KeyboardInterrupt:
        return 130


def _stored_help() -> str:
    path = __file__.removesuffix("entry.py") + _HELP
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        return file.read()


def _version() -> str:
    from trainway import __version__  # noqa: PLC0415 - only this one answer needs it

    return f"trainway {__version__}\n"


def _is_completing() -> bool:
    """Whether a shell asks for completions, which click answers."""
    import os  # noqa: PLC0415 - Python has it loaded already

    return "_TRAINWAY_COMPLETE" in os.environ


def _print(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        import os  # noqa: PLC0415 - Python has it loaded already

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so the last flush succeeds
        return 1
    return 0
