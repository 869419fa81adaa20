"""Jobs on clusters that Slurm schedules: a JobSet becomes one batch job, written as by hand.

What is sent is a script, made by pure functions and shown by `trainway explain`. One relay for each
cluster (`relay_client`) takes it to the login node, asks Slurm about all jobs at once, and brings
back what they write; within the allocation the job's driver (`trainway.agent.slurm`) does the rest.
"""
