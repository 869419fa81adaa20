"""What our programs cost, measured; each module runs as a script."""
