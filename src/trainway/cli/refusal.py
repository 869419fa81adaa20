"""The end of a command whose inputs are wrong: many lines, one exit status."""

from collections.abc import Sequence

from trainway.errors import TrainwayError


class RefusedError(TrainwayError):
    """Inputs that cannot be read (exit 2) or are not valid (exit 1); each line names its file."""

    code = "refused"

    def __init__(self, lines: Sequence[str], exit_code: int) -> None:
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)
        self.exit_code = exit_code
