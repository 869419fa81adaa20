"""What goes from one machine to another: by which way, in which order, and how it is kept there.

link            a connection to a host by `ssh_command`; `program` is the child that carries it
connection      the other end of it, with what waits to be sent
delivery        a job on its way to a host; `blobs` are large values that travel once
feed            what a job has written, on its way back: `journal_tail`, `log_tail`, `outputs`
log_copies      where it arrives, with `output_copies`; `restored` is output on its way out again
parcel          all files of a job as one, for nodes that share none; `job_place` finds
                them there, and `node_link` and `mirror` bring back what the job writes
"""
