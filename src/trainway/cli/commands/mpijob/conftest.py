"""An API server for the tests of this folder."""

from trainway.training.conftest import api

__all__ = ["api"]
