"""The data cache: a table that several jobs read as Arrow Flight from a head and its workers.

`table.py` says of which files a table is made. Workers keep these on disk as Arrow (`shelf.py`),
and the head (`head.py`) knows who has which rows. A client asks the head, and reads from the
workers; `client.py` is ours, and upstream's works too. Rows are numbered in the order of the files,
whoever has them, so that a worker may come and go. What needs pyarrow is the extra `cache`;
`ticket.py`, `row_range.py`, `order.py`, `assignment.py`, `head.py` and `objects.py` are pure.
"""
