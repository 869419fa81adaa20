"""The node agent: runs one JobSet as processes on the machine it is started on.

It needs the standard library of Python 3.8 and nothing else, so that it can be copied to a host as
one zip file, and it imports little, so that the first process of a job starts at once. For the same
reason its modules keep `typing` behind `TYPE_CHECKING = False` and use plain classes.

From the bottom: `indexes`, `quantity`, `conditions` are values; `job_controller` and
`jobset_controller` decide, like the controllers of Kubernetes, and do nothing themselves; `pod` and
`container` are the kubelet; `processes`, `mounts`, `volumes` and `log_writer` touch the machine;
`supervisor` ties them together around one `event_loop`; `journal` is what remains.
"""
