"""The clusters of a client, imported when somebody asks for them."""

from typing import TYPE_CHECKING

from trainway.sdk.rest import Rest

if TYPE_CHECKING:
    from trainway.sdk.cluster_rest import ClusterRest
    from trainway.sdk.clusters import Cluster


class ClusterAccess:
    """A client that knows clusters."""

    _rest: Rest

    def cluster(self, name: str) -> "Cluster":
        """The cluster of that name."""
        from trainway.sdk.clusters import Cluster  # noqa: PLC0415 - seldom needed

        rest = self._clusters()
        return Cluster(rest, rest.cluster(name))

    def clusters(self, *, refresh: bool = False) -> "list[Cluster]":
        """All clusters; `refresh` asks their agents first."""
        from trainway.sdk.clusters import Cluster  # noqa: PLC0415 - seldom needed

        rest = self._clusters()
        return [Cluster(rest, item) for item in rest.clusters(refresh=refresh)]

    def _clusters(self) -> "ClusterRest":
        from trainway.sdk.cluster_rest import ClusterRest  # noqa: PLC0415 - seldom needed

        return ClusterRest(self._rest.transport)
