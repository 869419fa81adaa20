"""Microsoft Azure, over its REST API. README.md says what was tried against what."""
