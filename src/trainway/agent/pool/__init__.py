"""The pool agent: holds the hosts of one pool and gives them to jobs, for as long as there are any.

It runs on the user's machine and outlives the server. From the bottom: `placement`, `ledger`,
`lease` and `queue` decide and do nothing themselves; `hosts` has a connection to each host; `gang`
is one job; `clusters` are held allocations with queues of their own, and `holding` has those of
Slurm; `gang_state` and `allocation_state` have the states that these can be in; `scheduler` carries
out what the queue decides; `pool` ties them together; `requests` and `socket` are for its clients;
`state` is what the next pool agent reads.
"""
