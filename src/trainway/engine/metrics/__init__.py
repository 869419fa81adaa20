"""The history of what training code reports: kept within bounds, apart from the jobs."""
