"""Admission: what the API server asks before it stores a job or a runtime, and what we answer."""
