"""Checkpoints in a bucket: what a job writes is mirrored there, and the next one begins from it."""
