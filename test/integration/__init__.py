"""Several rooms together. A package, so that its conftest has a name of its own for mypy."""
