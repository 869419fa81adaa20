"""The health check: what a node must be able to do before the first process of a gang starts on it.

`check` is its place in the life of a pod. All else runs in a child process: `program` asks `disk`,
`gpu_query` and `mesh` one after the other, and `verdict` says whose fault a broken network is.
"""
