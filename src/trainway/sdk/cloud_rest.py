"""The server's routes for clouds, in plain JSON."""

from trainway.json_types import Json
from trainway.sdk.rest import Rest


class CloudRest(Rest):
    """A server, with the clouds of which it rents machines."""

    def clouds(self) -> list[Json]:
        """All clouds for which there is a provider, and whether their credentials are good."""
        items: list[Json] = self._transport.request("GET", "/clouds")["items"]
        return items

    def sweep(self, *, dry_run: bool) -> Json:
        """List machines that the server made and does not know any more, or end them."""
        found: Json = self._transport.request("POST", "/clouds/sweep", body={"dryRun": dry_run})
        return found
