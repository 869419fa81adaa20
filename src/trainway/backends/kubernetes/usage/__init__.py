"""What the pods of jobs use of CPU and memory, where a cluster tells.

`readings` has the requests and what their answers say, `meter` asks for all jobs of a cluster, and
`job_usage` makes of that what the journal of one job keeps.
"""
