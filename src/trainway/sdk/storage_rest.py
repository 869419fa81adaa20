"""The server's routes for volumes, buckets and data caches, in plain JSON."""

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment


class StorageRest(Rest):
    """A server, with its volumes, buckets and data caches."""

    def volumes(self) -> list[Json]:
        """All volumes, by name."""
        items: list[Json] = self._transport.request("GET", "/volumes")["items"]
        return items

    def apply_volume(self, volume: Json) -> Json:
        """Keep a volume, new or in place of the one of its name."""
        name = segment(str(volume.get("name") or "-"))
        found: Json = self._transport.request("PUT", f"/volumes/{name}", body=volume)
        return found

    def delete_volume(self, name: str) -> Json:
        """Forget a volume that no job uses."""
        gone: Json = self._transport.request("DELETE", f"/volumes/{segment(name)}")
        return gone

    def buckets(self) -> list[Json]:
        """The buckets that tasks have named, by name."""
        items: list[Json] = self._transport.request("GET", "/storage")["items"]
        return items

    def forget_bucket(self, uri: str) -> Json:
        """Forget a bucket."""
        gone: Json = self._transport.request("POST", "/storage/forget", body={"uri": uri})
        return gone

    def caches(self) -> list[Json]:
        """The data caches by name, with what their heads say."""
        items: list[Json] = self._transport.request("GET", "/caches")["items"]
        return items
