"""Managed queues of the engine: stored, and what each round of the queue decides by."""
