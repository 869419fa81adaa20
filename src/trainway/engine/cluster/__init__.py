"""Clusters: allocations that are held, each with a queue of jobs of its own.

clusters    what users do with them; `request` and `shape` are what is asked for
book        what is known of them, kept in `store` as a `record` each
agents      those who keep them, and `news` what these tell
"""
