"""Volumes that people have named, and the buckets that were made for jobs."""
