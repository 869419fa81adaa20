"""RunPod, over its GraphQL API. README.md says what was tried against what."""
