"""Python environments of a host: made once for each list of packages, and shared by its jobs."""
