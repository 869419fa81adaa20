"""Sweeps: what people write about the parameters of many runs, made into one assignment for each.

Client and server use it: the client reads options and files, the server puts the values of each
trial into its job. Pure.
"""
