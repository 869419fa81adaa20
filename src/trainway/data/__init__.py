"""One way to bytes: the hub, object stores, web servers and files of this machine.

`uri.py` says what a URI names, `opening.py` finds who can read or write it, `transfer.py` brings
bytes here and `upload.py` brings them there; `cache.py` keeps what was fetched for the jobs of a
host. `flight/` serves tables to jobs, and `torch.py` reads them. Client and server side may both
use all of it; of our other packages it imports only the names of labels.
"""
