"""The host key of rented machines: made here, and given to them, to check the first contact.

There is one for each rental, whose machines start with it. Its private half is a file beside the
server's own key until the machines are gone; the ledger and logs never have it.
"""

from pathlib import Path
from typing import Final

from trainway.engine.rental.ssh_key import FOLDER, new_pair, write

KNOWN: Final = "known_hosts-"
"""What the names of files begin with that say who answers on the machines of a rental."""
PRIVATE: Final = "host_key-"


def host_key(home: Path, token: str, *, is_wanted: bool) -> str:
    """The private half for the machines of a rental, the same whenever it is asked for.

    Empty: they make one themselves, and whoever answers first is believed.
    """
    folder = home / FOLDER
    private = folder / f"{PRIVATE}{token}"
    if not private.exists() and is_wanted:
        public, secret = new_pair()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(folder / f"{KNOWN}{token}", b"* " + public + b"\n")
        write(private, secret)  # last, since it counts
    return private.read_text("ascii") if private.exists() else ""


def is_given(folder: str, token: str) -> bool:
    """Whether the machines of a rental were given their key, so that no other is believed."""
    return Path(folder, f"{PRIVATE}{token}").exists()
