"""Infrastructure: each backend runs a JobSet, and all of them look alike from above (`base`)."""
