"""Errors a user can see.

TrainwayError        something went wrong             code error        exit 1  HTTP 500
  UsageError         the command was given wrongly    code usage        exit 2  HTTP 400
  UnreadableError    an input cannot be read          code unreadable   exit 2  HTTP 400
    ManifestError    a text is no manifest            code manifest     exit 2  HTTP 400
  InvalidError       objects that are refused         code invalid      exit 1  HTTP 422
  ForbiddenError     a rule or a token forbids it     code forbidden    exit 1  HTTP 403
  NotFoundError      no such object                   code not_found    exit 3  HTTP 404
  ConflictError      not in the state it is in now    code conflict     exit 1  HTTP 409
  UnavailableError   a server or program is missing   code unavailable  exit 1  HTTP 503
  DatabaseError      the database cannot be used      code database     exit 1  HTTP 503
  JobFailedError     the job ended badly              code job_failed   exit 4  HTTP 500
  WaitTimeoutError   the wait was too short           code timeout      exit 5  HTTP 504

What is wrong with a field of an object is no exception: such errors come many at once, as
`schema.field.FieldError`; an InvalidError carries them as lines.

This module imports nothing, so that every layer can use it.
"""


class TrainwayError(Exception):
    """Base of every error a user can see: one line that says what, and maybe a hint."""

    code = "error"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.hint = hint

    @property
    def sentence(self) -> str:
        """What is wrong and what to do about it, for places that have one line for both."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(TrainwayError):
    """The command was given wrongly."""

    code = "usage"
    exit_code = 2
    http_status = 400


class UnreadableError(TrainwayError):
    """A file, or the text in it, cannot be read."""

    code = "unreadable"
    exit_code = 2
    http_status = 400


class ManifestError(UnreadableError):
    """A text that is neither YAML nor JSON of objects; line and column count from 1."""

    code = "manifest"

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


class NotFoundError(TrainwayError):
    """There is no object of that name."""

    code = "not_found"
    exit_code = 3
    http_status = 404


class InvalidError(TrainwayError):
    """Objects that are refused; `lines` has one reason each."""

    code = "invalid"
    http_status = 422

    def __init__(self, lines: list[str], *, hint: str | None = None) -> None:
        super().__init__("; ".join(lines), hint=hint)
        self.lines = tuple(lines)


class ForbiddenError(TrainwayError):
    """A rule forbids it, or the token is not the right one."""

    code = "forbidden"
    http_status = 403


class ConflictError(TrainwayError):
    """Not in the state that it is in now."""

    code = "conflict"
    http_status = 409


class UnavailableError(TrainwayError):
    """A server or a program that is needed is not there."""

    code = "unavailable"
    http_status = 503


class DatabaseError(TrainwayError):
    """The database cannot be read or written, and what was asked for was not done."""

    code = "database"
    http_status = 503


class JobFailedError(TrainwayError):
    """The job ended badly."""

    code = "job_failed"
    exit_code = 4


class WaitTimeoutError(TrainwayError):
    """What was waited for did not happen in time."""

    code = "timeout"
    exit_code = 5
    http_status = 504
