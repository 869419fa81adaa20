"""Lambda, over its public HTTP API. README.md says what was tried against what."""
