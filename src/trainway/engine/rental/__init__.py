"""Machines that are rented of clouds: the ledger of them, written before anything is made."""
