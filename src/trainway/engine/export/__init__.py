"""The output of jobs that have succeeded, sent into buckets by the server, which has it."""
