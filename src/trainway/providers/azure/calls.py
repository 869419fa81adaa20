"""Sends requests to Azure: who asks, pages of lists, things that are gone, and waiting."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from trainway.providers.azure import answers
from trainway.providers.azure.login import Login, azure_login, no_credentials
from trainway.providers.azure.refusals import GONE, complaint
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.web_api import RefusalError, WebApi, bearer

ADDRESS: Final = "https://management.azure.com"
SUBSCRIPTIONS: Final = "2022-12-01"
RESOURCES: Final = "2021-04-01"
SKUS: Final = "2021-07-01"
COMPUTE: Final = "2024-07-01"
NETWORKS: Final = "2024-05-01"
PAUSE_S: Final = 2.0
LIMIT_S: Final = 900.0


class AzureCalls:
    """The REST API of Azure. Each kind of resource has a version of its own."""

    def __init__(
        self,
        address: str = ADDRESS,
        login: Callable[[], Login] | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.login = login or azure_login()
        self._pause = pause
        self._api = WebApi("Azure", address, bearer(lambda: self.login().token), complaint)
        self._lock = threading.Lock()
        self._subscription = ""

    @property
    def subscription(self) -> str:
        """The path of the subscription that is chosen, or of the only one that there is.

        It stays the same, whoever chooses another one meanwhile: machines would seem to be gone.
        """
        with self._lock:
            if not self._subscription:
                self._subscription = self.login().subscription or self._only()
            return f"/subscriptions/{self._subscription}"

    def _only(self) -> str:
        found = self.pages("/subscriptions", SUBSCRIPTIONS)
        if len(found) == 1:
            return str(found[0]["subscriptionId"])
        told = f"there are {len(found)} subscriptions, and none is chosen"
        raise no_credentials(told if found else "there is no subscription")

    def group(self, name: str) -> str:
        """The path of a resource group."""
        return f"{self.subscription}/resourceGroups/{name}"

    def get(self, path: str, version: str, **query: str) -> dict[str, Any]:
        """One thing, which is there."""
        found: dict[str, Any] = self._api.get(path, **{"api-version": version}, **query)
        return found

    def seen(self, path: str, version: str, **query: str) -> dict[str, Any] | None:
        """One thing; None: there is no such thing."""
        try:
            return self.get(path, version, **query)
        except RefusalError as error:
            if error.code not in GONE:
                raise
            return None

    def pages(self, path: str, version: str, **query: str) -> list[dict[str, Any]]:
        """All of a list, none where it would stand in something that is gone.

        Azure says where the next page is; only the path of that is believed.
        """
        asked = {"api-version": version, **query}
        found: list[dict[str, Any]] = []
        while True:
            version = asked.pop("api-version", version)
            answer = self.seen(path, version, **asked) or {}
            found += answer.get("value") or []
            following = urlsplit(answer.get("nextLink") or "")
            if not following.path:
                return found
            path, asked = following.path, dict(parse_qsl(following.query))

    def put(self, path: str, version: str, body: object) -> None:
        """Not repeated: whether it was done is seen when the whole request is."""
        self._api.send_once("PUT", _asked(path, version), body)

    def put_and_wait(self, path: str, version: str, body: object) -> None:
        """Until it can be used."""
        self._api.send("PUT", _asked(path, version), body)
        for _ in self.looks():
            state = answers.provisioning(self.get(path, version))
            if state in answers.DONE:
                return
            if state == "failed":
                break
        raise ProviderError(
            f"Azure: {path.rpartition('/providers/')[2]} cannot be made",
            trouble=Trouble.OTHER,
            scope=Scope.REGION,
        )

    def post(self, path: str, version: str) -> None:
        """Begin something with a thing, if it is there."""
        self._unless_gone("POST", _asked(path, version))

    def delete(self, path: str, version: str, **query: str) -> None:
        """Begin to delete a thing, if it is there."""
        self._unless_gone("DELETE", _asked(path, version, **query))

    def _unless_gone(self, method: str, path: str) -> None:
        try:
            self._api.send(method, path)
        except RefusalError as error:
            if error.code not in GONE:
                raise

    def looks(self) -> Iterator[None]:
        """One after the other with a pause between them, until nobody waits any more."""
        waited = 0.0
        while waited < LIMIT_S:
            yield
            self._pause(PAUSE_S)
            waited += PAUSE_S


def _asked(path: str, version: str, **query: str) -> str:
    return f"{path}?{urlencode({'api-version': version, **query})}"
