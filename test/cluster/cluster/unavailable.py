"""What is raised when a cluster cannot be had on this machine.

The fixtures make a skipped test of it, and a failed one in CI; the command line prints it.
"""


class UnavailableError(Exception):
    """The cluster lacks something; the message says what, in one line."""
