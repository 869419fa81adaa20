"""Telling people what happens to their jobs."""
