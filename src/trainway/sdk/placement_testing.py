"""The places of the server in memory."""

from trainway.json_types import Json


class FakePlaces:
    """Says what a test says of each place."""

    def __init__(self) -> None:
        self.fits: dict[str, str] = {"local": "now"}
        """What each place says, the best one first."""

    def answer(self, name: str, body: Json) -> Json:
        """The names, or what those offer that were asked, as if they were ranked already."""
        if name == "places":
            return {"items": list(self.fits)}
        asked = [each["options"]["backend"] for each in body["candidates"]]
        offers = [
            {"place": place, "fit": fit, "reason": "why", "price": None, "ahead": 0}
            for place, fit in self.fits.items()
            if place in asked
        ]
        taking = [offer["place"] for offer in offers if offer["fit"] != "never"]
        return {"offers": offers, "chosen": taking[0] if taking else None}
