"""`python -m trainway.data.flight head|worker HOST PORT`."""

import sys


def _main() -> int:
    try:
        from trainway.data.flight.program import main  # noqa: PLC0415 - so that this can say why
    except ModuleNotFoundError as error:
        if error.name not in {"pyarrow", "pyiceberg"}:
            raise
        sys.stderr.write(f"error: {error.name} is missing: pip install 'trainway[cache]'\n")
        return 1
    return main()


if __name__ == "__main__":
    sys.exit(_main())
