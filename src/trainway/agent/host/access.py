"""What the pods of an MPI job on this host have to reach its other hosts, and who may come here.

In the job's directory: the job's own private key, where its pods are, and the keys by which their
hosts are known. `rsh` reads them, in the launcher, and again wherever a launcher starts its
processes by way of others.
"""

from __future__ import annotations

import json

from trainway.agent.host.keys import KeysError, public_key
from trainway.agent.host.peer_files import FOLDER, KEY, KNOWN_HOSTS, PEERS, alias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainway.agent.base.directory import Directory
    from trainway.agent.host.keys import AuthorizedKeys
    from trainway.agent.kubelet.objects import Objects
    from trainway.json_types import Json


PRIVATE_PART, PUBLIC_PART = "ssh-privatekey", "ssh-publickey"


def known_hosts(peers: Json) -> str:
    """The hosts of all pods with all their keys; what is no key is left out."""
    lines = []
    for pod, peer in sorted(peers.items()):
        for key in peer.get("host_keys") or []:
            try:
                lines.append(f"{alias(pod)} {public_key(str(key))}\n")
            except KeysError:
                continue
    return "".join(lines)


class JobAccess:
    """The access of one job to this host, from its arrival to its end."""

    def __init__(
        self, job_id: str, jobset: str, directory: Directory, keys: AuthorizedKeys | None
    ) -> None:
        """Without `keys` nobody comes here by SSH."""
        self._job_id = job_id
        self._jobset = jobset
        self._directory = directory
        self._keys = keys

    def open(self, objects: Objects, secret: str, join: Sequence[str]) -> None:
        """Let the job's key in, to run the command `join`; KeysError says why it cannot be."""
        if self._keys is None:
            return
        data = objects.data("Secret", secret, optional=True)
        if PRIVATE_PART not in data or PUBLIC_PART not in data:
            raise KeysError(f'the Secret "{secret}" holds no SSH key')
        self._directory.make(FOLDER)
        self._directory.write(KEY, data[PRIVATE_PART])
        self._keys.admit(self._job_id, data[PUBLIC_PART].decode("utf-8", "replace"), join)

    def set_peers(self, peers: Json, pod: str) -> None:
        """Note where all pods of the job are, one of which is on this host."""
        here = (peers.get(pod) or {}).get("host", "")
        found = {"jobset": self._jobset, "here": here, "pods": peers}
        self._directory.make(FOLDER)
        self._directory.replace(KNOWN_HOSTS, known_hosts(peers).encode())
        self._directory.replace(PEERS, json.dumps(found).encode())

    def close(self) -> None:
        """Let it in no more; its files go with its directory."""
        if self._keys is not None:
            self._keys.dismiss(self._job_id)
