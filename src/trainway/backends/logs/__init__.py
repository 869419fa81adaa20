"""The logs of a job as files, which every backend writes alike, and reading them as one stream."""
