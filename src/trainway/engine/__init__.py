"""The life of a job: stored, queued, started on a backend, watched to its end, and remembered."""
