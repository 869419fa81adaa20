"""Runs: several jobs that were submitted as one, under one name."""
