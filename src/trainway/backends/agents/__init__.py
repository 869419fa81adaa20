"""What backends share whose jobs an agent of ours runs: on this machine, on hosts and on Slurm.

A plan is written to the directory of the job, and an agent carries it out and writes back there
what happens. It belongs to no family, and imports the folder of none.
"""
