"""Talking to Kubernetes: client, informers, work queue, leases, events, certificates."""
