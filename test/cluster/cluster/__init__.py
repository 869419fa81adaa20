"""A real Kubernetes that tests and people start in seconds: see ../README.md."""
