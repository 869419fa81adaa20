"""The nodes on which attempts of jobs have failed, and what becomes of them."""
