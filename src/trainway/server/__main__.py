"""Start the server: `python -m trainway.server --home DIR`."""

import argparse
import asyncio
import gc
import logging
import os
import sys
from pathlib import Path

from trainway.errors import TrainwayError
from trainway.server.log_file import log_to
from trainway.server.process import AlreadyRunningError, Listen, ServerHome, tcp_socket
from trainway.server.tokens import TokenFile, write_new_token
from trainway.telemetry.logs import FORMATS, LOG_FORMAT


def main(arguments: list[str] | None = None) -> int:
    """Serve the home directory; 0 also if another server does so already."""
    options = _options(arguments)
    gc.disable()  # until all is loaded: it would look at every new module again and again
    os.umask(0o077)
    try:
        home = ServerHome(options.home.absolute())
    except AlreadyRunningError:
        return 0
    except TrainwayError as error:
        sys.stderr.write(f"error: {error.sentence}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: {error.filename}: {error.strerror}\n")
        return 1
    log_to(home.path / "server.log", options.log_format)
    try:
        # Before the unix socket: who can connect to that may take it that all went well.
        tcp = tcp_socket(options.listen) if options.listen is not None else None
        token = _token(options, home)
        owner = home.listen()
        started = home.announce(tcp)
        # Slow to import; the sockets are open already, and clients wait in their queue.
        from trainway.server.serving import Settings, Sockets, serve  # noqa: PLC0415 - see above

        settings = Settings(started, os.getpid(), token, _idle(options), options.busy_seconds)
        asyncio.run(serve(home, Sockets(owner, tcp), settings))
    except TrainwayError as error:
        sys.stderr.write(f"error: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"hint: {error.hint}\n")
        return 1
    except OSError as error:
        place = error.filename or home.path
        sys.stderr.write(f"error: {place}: {error.strerror or error}\n")
        return 1
    except Exception:
        logging.getLogger("trainway.server").exception("the server failed")
        return 1
    finally:
        home.withdraw()
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trainway.server", description=__doc__)
    parser.add_argument(
        "--home", type=Path, required=True, help="directory of the jobs and the database"
    )
    parser.add_argument("--listen", type=Listen.parse, metavar="HOST:PORT", help="serve TCP too")
    parser.add_argument("--token-file", type=Path, help="file with the token, or with its digest")
    parser.add_argument(
        "--idle-seconds", type=float, help="seconds without use after which it ends; 0: never"
    )
    parser.add_argument(
        "--busy-seconds", type=float, default=10.0, help="seconds to wait for a locked database"
    )
    parser.add_argument(
        "--log-format",
        choices=FORMATS,
        default=_usual_format(os.environ.get(LOG_FORMAT, "")),
        help="lines of server.log for people, or JSON",
    )
    return parser.parse_args(arguments)


def _usual_format(wanted: str) -> str:
    """The form that the environment asks for; a server starts whatever that is."""
    return wanted if wanted in FORMATS else FORMATS[0]


def _idle(options: argparse.Namespace) -> float | None:
    """An embedded server goes when nobody needs it; one that others connect to stays."""
    if options.idle_seconds is None:
        return None if options.listen is not None else 60.0
    return float(options.idle_seconds) or None


def _token(options: argparse.Namespace, home: ServerHome) -> TokenFile:
    """The token that TCP clients need; one is made for a server that listens and has none."""
    if options.token_file is not None:
        token = TokenFile(options.token_file.absolute(), is_given=True)
    else:
        token = TokenFile(home.path / "token")
    if options.listen is not None:
        if not token.is_given and not token.path.exists():
            write_new_token(token.path)
        token.check()
    return token


if __name__ == "__main__":
    sys.exit(main())
