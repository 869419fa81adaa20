"""In which order jobs were submitted, by their ids.

A server may hand two of them on so that one overtakes the other. Ids are milliseconds since 2020,
then random bits, so they tell.
"""

from __future__ import annotations

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 12
EPOCH = 1577836800.0
RANDOM_BITS = 19


def order_of(job_id: str) -> int | None:
    """The order of a job; None where its id does not tell."""
    if len(job_id) != LENGTH or set(job_id) - set(ALPHABET):
        return None
    number = 0
    for digit in job_id:
        number = number << 5 | ALPHABET.index(digit)
    return number


def order_at(moment: float) -> int:
    """The order of what comes at that moment and has no such id."""
    return int((moment - EPOCH) * 1000) << RANDOM_BITS
