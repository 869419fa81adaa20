"""Clusters as places to run jobs: `cluster/NAME`, a share of a pool with its own queue."""
