"""What is counted of the jobs of a server, for Prometheus."""
