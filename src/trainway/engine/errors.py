"""Errors of the engine that a user can see, beside those of `trainway.errors`."""

from trainway.errors import TrainwayError


class UnfittingJobError(TrainwayError):
    """The gang needs more than the whole machine has."""

    code = "inadmissible"
    http_status = 422
