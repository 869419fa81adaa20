"""Structural schemas: what a field may hold, and how an error about it is told.

The lowest room. `api` and `jobset` describe their objects with it, the CRDs are printed from it,
and one walker checks any object against it, so an object is refused offline exactly where a cluster
would refuse it.
"""
