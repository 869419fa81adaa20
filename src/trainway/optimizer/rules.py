"""What is left out although it would fit, since hardly anybody wants it unasked. Pure.

Each rule can be turned off, and none holds for what a task names itself: an instance type, a
region, or an accelerator that no other machine has.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trainway.catalog.offer import Trait
from trainway.errors import UsageError


class Rule(StrEnum):
    """The rules, by the word that turns one off."""

    ARM = Trait.ARM.value
    BURSTABLE = Trait.BURSTABLE.value
    RETIRED = Trait.RETIRED.value
    PROMOTIONAL = Trait.PROMOTIONAL.value
    OPT_IN = "opt-in"


REASONS: Final = {
    Rule.ARM: "their processors are no x86-64",
    Rule.BURSTABLE: "their processors are shared or slowed down after a while",
    Rule.RETIRED: "the cloud retires them",
    Rule.PROMOTIONAL: "the offer is for a limited time",
    Rule.OPT_IN: "the region has to be enabled for the account first",
}
TRAITS: Final = {Rule(trait.value): trait for trait in Trait}
"""The rules that are about the machine type."""


@dataclass(frozen=True)
class Rules:
    """The rules that hold."""

    holding: frozenset[Rule] = frozenset(Rule)

    def traits(self) -> Iterator[Trait]:
        """What no machine type may be like."""
        return (TRAITS[rule] for rule in Rule if rule in self.holding and rule in TRAITS)


def allowing(words: Iterable[str]) -> Rules:
    """All rules but those that are named; `all` names every one."""
    holding = set(Rule)
    for word in (part.strip() for text in words for part in text.split(",")):
        if word == "all":
            holding.clear()
        elif word in {rule.value for rule in Rule}:
            holding.discard(Rule(word))
        else:
            raise UsageError(
                f"--allow: there is no rule {word!r}",
                hint=f"The rules are {', '.join(Rule)}, and all for every one of them.",
            )
    return Rules(frozenset(holding))
