"""Allocations of Slurm that clusters hold: batch jobs whose tasks are host agents.

hold            asks for them, watches them and gives them back, by a relay (`relay_link`)
host            the program that is such a task; `nodes` has them as hosts of the cluster's pool
"""
