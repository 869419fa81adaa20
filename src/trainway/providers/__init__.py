"""Clouds: who makes and ends machines. What runs on them is the business of `backends/`."""
