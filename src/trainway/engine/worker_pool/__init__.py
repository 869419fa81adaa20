"""Worker pools: clusters of one kind that are held ready, and give jobs a place at once."""
