"""The controllers of JobSet and Job, which decide and do nothing themselves. Pure.

They get plain data and a time, and change the state that they are given. What comes of it is for a
supervisor to carry out.

jobset_controller   which Jobs there are; `jobset_failure_policy` is what follows when one failed
job_controller      which pods a Job has; `pod_failure_policy` is what a failed one means
jobset, job         their states, with `conditions` and `indexes`
"""
