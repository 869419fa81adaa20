"""Jobs on this machine: a JobSet as processes, looked after by one agent for each job.

The agent (`trainway.agent`) is a process of its own that outlives the server. What the two share is
the job's directory (`jobdir`): the plan, the journal, a socket and the logs.
"""
