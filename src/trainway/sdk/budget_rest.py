"""The server's routes for budgets, in plain JSON."""

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment


class BudgetRest(Rest):
    """A server, with its budgets."""

    def budgets(self) -> list[Json]:
        """All of them, by name, and how they stand."""
        items: list[Json] = self._transport.request("GET", "/budgets")["items"]
        return items

    def set_budget(self, name: str, budget: Json) -> Json:
        """Make one, or change it: `user` or `label`, and `monthly`."""
        path = f"/budgets/{segment(name)}"
        found: Json = self._transport.request("PUT", path, body=budget)
        return found

    def delete_budget(self, name: str) -> Json:
        """Forget one."""
        found: Json = self._transport.request("DELETE", f"/budgets/{segment(name)}")
        return found
