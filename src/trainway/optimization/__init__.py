"""Hyperparameter search: what is tried next, which trials are stopped, and its status.

Pure, and all that is known comes from the trials themselves: the operator and the engine ask the
same functions, and a process that takes over decides what the former one would have.
"""
