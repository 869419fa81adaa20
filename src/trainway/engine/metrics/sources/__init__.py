"""Where metrics come from without being reported: what a job prints, and files that it writes."""
