"""What all parts of the agent stand on: time, files, the journal, and the plan of a job.

event_loop      the one thread of an agent; `clock` is its time
directory       files, reached through one open directory; `journal` is what an agent writes down
plan            what it carries out, with `job_spec`; `pod_identity` and `pod_status` are its pods
transitions     a change of state by a table
daemon          how it becomes a process of its own; `launch` is how others start it, and
                `own_program` how it starts itself again
linux           system calls; `kernel_files` and `unix_listener` are what the kernel has besides
removal         how files go again
"""
