"""Jobs on hosts that one can log in to: pools of them, each with an agent on this machine.

The pool agent (`trainway.agent.pool`) is a process of its own that outlives the server. It holds
one SSH connection to each host, queues and places the jobs of its pool, and writes what happens
into their directories here; so what this package does is to plan jobs, to hand them over, and to
read.
"""
