"""What tests of the command line share with those of the SDK."""

from trainway.sdk.conftest import fake

__all__ = ["fake"]
