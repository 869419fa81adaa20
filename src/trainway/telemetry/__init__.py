"""What server and operator tell those who look after them: metrics for Prometheus, and logs."""
