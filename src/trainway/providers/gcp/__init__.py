"""Google Compute Engine, over its REST API. README.md says what was tried against what."""
