"""Trainway: write a training job once, run it anywhere.

This module stays empty but for the version: everything a user imports lives in `trainway.sdk`, and
every command starts by importing this package, so a single line here is paid for at each start.
"""

__version__ = "0.1.0"
