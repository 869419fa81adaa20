"""Start the operator: `python -m trainway.operator run`, which `trainway operator run` becomes."""

import argparse
import asyncio
import contextlib
import gc
import logging
import sys
from importlib.util import find_spec

from trainway.errors import TrainwayError, UnavailableError, UsageError
from trainway.operator.options import (
    Parser,
    add_connection_arguments,
    add_log_arguments,
    add_run_arguments,
    load_config,
)
from trainway.telemetry.logs import configure_logs

_PROGRAM = "trainway operator"
_PACKAGES = ("aiohttp", "kubernetes_asyncio", "orjson")
_INTERRUPTED = 130
_COMMANDS = {
    "run": "Run the controllers and webhooks in this process.",
    "install": "Install or update the operator in a cluster.",
    "uninstall": "Remove the operator from a cluster.",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; its exit status."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        options, unknown = _parser(words[0] if words else "").parse_known_args(words)
        if unknown:
            hint = f"see {_PROGRAM} {options.command} --help"
            raise UsageError(f"unrecognized arguments: {' '.join(unknown)}", hint=hint)
        _require_packages()
        configure_logs(options.log_format, options.log_level)
        return _run(options) if options.command == "run" else _install(options)
    except TrainwayError as error:
        sys.stderr.write(
            f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else "")
        )
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception:
        logging.getLogger("trainway.operator").exception("the operator failed")
        return 1


def _parser(chosen: str) -> Parser:
    parser = Parser(prog=_PROGRAM, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in _COMMANDS.items():
        command = commands.add_parser(name, allow_abbrev=False, help=what, description=what)
        if name == "run":
            add_run_arguments(command)
            continue
        add_connection_arguments(command)
        add_log_arguments(command)
        if name == chosen:
            _add_install_arguments(command, name)
    return parser


def _require_packages() -> None:
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UnavailableError(
            f"the operator needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'trainway[kubernetes]'",
        )


def _run(options: argparse.Namespace) -> int:
    config = load_config(options)
    from trainway.operator.process import run  # noqa: PLC0415 (needs the packages)

    gc.freeze()  # modules stay: the collector need not look at them again
    return asyncio.run(run(config, options))


def _install(options: argparse.Namespace) -> int:
    from trainway.operator.install import main as install  # noqa: PLC0415 (needs the packages)

    return asyncio.run(install(options))


def _add_install_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    with contextlib.suppress(ImportError):  # told later, once, by _require_packages
        from trainway.operator.install import (  # noqa: PLC0415 (needs the packages)
            add_arguments,
        )

        add_arguments(parser, name)


if __name__ == "__main__":
    sys.exit(main())
