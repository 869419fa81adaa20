"""Clusters on rented machines: what is there once a provider has made them."""
