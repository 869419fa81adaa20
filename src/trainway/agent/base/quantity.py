"""Amounts of resources as Kubernetes writes them (`500m`, `4Gi`, `1e3`), for resourceFieldRef.

Only what that needs: how many times a divisor fits into an amount, rounded up.
"""

from __future__ import annotations

_NANO = 10**9
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def nano(amount: str | float) -> int:
    """An amount in billionths of its unit, rounded up."""
    text = str(amount).strip()
    digits = text.rstrip("KMGTPEikmnu")
    suffix = text[len(digits) :]
    exponent = 0
    factor = 1
    if suffix in _BINARY:
        factor = _BINARY[suffix]
    elif suffix in _DECIMAL:
        exponent = _DECIMAL[suffix]
    else:
        raise ValueError(f"{amount!r} is not a quantity")
    mantissa, _, power = digits.replace("E", "e").partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent += int(power or 0) - len(fraction) + 9
    value = int(whole + fraction) * factor
    scale: int = 10 ** abs(exponent)
    return value * scale if exponent >= 0 else -(-value // scale)


def times(amount: str | float, divisor: str | float) -> int:
    """How many divisors make up the amount, rounded up; a divisor of 0 stands for 1."""
    return -(-nano(amount) // (nano(divisor or "0") or _NANO))
