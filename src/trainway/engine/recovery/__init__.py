"""What becomes of a job that lost its place, or may lose it: decided here, done elsewhere."""
