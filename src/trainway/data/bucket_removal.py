"""A bucket with everything in it, removed; again is fine."""

import sys
from typing import Final

from trainway.data import buckets
from trainway.data.opening import open_target
from trainway.data.uri import parse
from trainway.errors import TrainwayError

_AT_ONCE: Final = 1000


def remove_all(uri: str) -> bool:
    """Remove a bucket and all objects in it; whether it was there."""
    location = parse(uri).of("")
    if not buckets.exists(location):
        return False
    target, keys = open_target(location), []
    for entry in target.list(""):
        keys.append(entry.key)
        if len(keys) == _AT_ONCE:
            target.delete(keys)
            keys = []
    if keys:
        target.delete(keys)
    return buckets.remove(location)


def main(uri: str) -> int:
    """Remove it for a server, with the credentials of the environment."""
    try:
        remove_all(uri)
    except TrainwayError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
