"""Where a job is to run, in the options that SkyPilot had before `--infra`. Pure."""

from typing import Final

from trainway.errors import UsageError

_FAMILIES: Final = {"kubernetes": "k8s"}
"""Clouds that have another name here."""


def place_of(
    infra: str | None, cloud: str | None, region: str | None, zone: str | None
) -> str | None:
    """The place that the options name; None where they name none.

    `--cloud kubernetes --region prod` is `k8s/prod`, `--cloud slurm --region hpc --zone gpu` is
    `slurm/hpc/gpu`.
    """
    parts = _given(("--cloud", cloud), ("--region", region), ("--zone", zone))
    if infra is not None:
        if parts:
            raise UsageError(
                f"--infra cannot be combined with {', '.join(name for name, _ in parts)}"
            )
        family, slash, rest = infra.partition("/")
        return f"{_FAMILIES.get(family.lower(), family)}{slash}{rest}"
    if not parts:
        return None
    wanted = ["--cloud", "--region", "--zone"][: len(parts)]
    if [name for name, _ in parts] != wanted:
        raise UsageError(
            f"{parts[-1][0]} needs {' and '.join(wanted)}", hint="write --infra CLOUD/REGION/ZONE"
        )
    first, *others = (text for _, text in parts)
    return "/".join([_FAMILIES.get(first.lower(), first.lower()), *others])


def _given(*options: tuple[str, str | None]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in options if text is not None]
