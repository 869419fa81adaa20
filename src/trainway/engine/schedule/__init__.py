"""Schedules of the engine: stored, and fired once for each of their moments."""
