"""One way to bytes: the hub, object stores, web servers and files of this machine.

`uri.py` says what a URI names, `opening.py` finds who can read or write it, `transfer.py` brings
bytes here and `upload.py` brings them there; `cache.py` keeps what was fetched for the jobs of a
host. Client and server side may both use it; it imports no other package of ours.
"""
