"""Where a job goes that may run in several places: what each offers, and which one is chosen."""
