"""The pool agent: holds the hosts of one pool and gives them to jobs, for as long as there are any.

It runs on the user's machine and outlives the server. From the bottom: `placement`, `ledger`,
`lease` and `queue` decide and do nothing themselves; `ssh_command` and `ssh_failure` are what is
said to OpenSSH and what its answers mean; `link` is the connection to one host; `hosts` keeps them
all; `gang` is one job; `clusters` are held allocations with queues of their own; `scheduler`
carries out what the queue decides; `pool` ties them together; `requests` and `socket` are for its
clients; `state` is what the next pool agent reads.
"""
