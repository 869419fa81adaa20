"""Allocations of Slurm that the clusters of a pool hold: batch jobs whose tasks are host agents.

hold            asks for them, watches them and gives them back, by a relay (`relay_link`)
nodes           their nodes as hosts of the pool; on each runs `slurm host` (`slurm/held_node`)
"""
