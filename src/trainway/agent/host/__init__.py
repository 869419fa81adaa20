"""The host agent: runs pods of many jobs on a machine that others reach by SSH.

A daemon of the user, without a port and without root. `connect` relays the standard streams of an
SSH session to its socket; over them a pool agent says what to run, in JSON, one object a line. The
daemon outlives the connection and whoever is at the other end: what it has to report waits on disk
until somebody asks for it, and what it runs goes on as long as a majority of the pool can be seen
(`lease`). It decides nothing about jobs: `hosted_job` starts pods and stops them, with the same
code that runs them on the user's own machine.
"""
