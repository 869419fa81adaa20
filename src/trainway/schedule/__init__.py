"""Schedules: when jobs are submitted again and again, decided from a time alone."""
