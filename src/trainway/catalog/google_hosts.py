"""Google Cloud sells GPUs and their hosts apart: which belong together, and what both cost. Pure.

A GPU and its host are in one zone, and their prices add up. Some machine types come with their
GPUs and cannot be had without; others (N1) take as many GPUs as Google's documentation allows for
their size. A TPU comes with its own host.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from trainway.catalog.csv_format import Row

TPU_HOST: Final = "TPU-VM"
_FIXED: Final[Mapping[tuple[str, float], tuple[str, ...]]] = {
    **{("a100", n): (f"a2-highgpu-{n}g",) for n in (1, 2, 4, 8)},
    ("a100", 16): ("a2-megagpu-16g",),
    **{("a100-80gb", n): (f"a2-ultragpu-{n}g",) for n in (1, 2, 4, 8)},
    **{("h100", n): (f"a3-highgpu-{n}g",) for n in (1, 2, 4)},
    ("h100", 8): ("a3-highgpu-8g", "a3-edgegpu-8g", "a3-edgegpu-8g-nolssd"),
    ("h100-mega", 8): ("a3-megagpu-8g",),
    ("h200", 8): ("a3-ultragpu-8g", "a3-ultragpu-8g-nolssd"),
    ("b200", 8): ("a4-highgpu-8g",),
    ("l4", 1): tuple(f"g2-standard-{n}" for n in (4, 8, 12, 16, 32)),
    ("l4", 2): ("g2-standard-24",),
    ("l4", 4): ("g2-standard-48",),
    ("l4", 8): ("g2-standard-96",),
    **{("rtxpro6000", n): (f"g4-standard-{48 * n}",) for n in (1, 2, 4, 8)},
}
"""Machine types that come with these accelerators."""
_MOST_VCPUS: Final[Mapping[str, Mapping[float, float]]] = {
    "k80": {1: 8, 2: 16, 4: 32, 8: 64},
    "p4": {1: 24, 2: 48, 4: 96},
    "p100": {1: 16, 2: 32, 4: 96},
    "t4": {1: 48, 2: 48, 4: 96},
    "v100": {1: 12, 2: 24, 4: 48, 8: 96},
}
"""How large an N1 host may be beside so many of these."""
_N1: Final = ("n1-standard-", "n1-highmem-", "n1-highcpu-")
_WITH_GPUS: Final = ("a2-", "a3-", "a4-", "a4x-", "g2-", "g4-")


def with_hosts(rows: Iterable[Row]) -> Iterator[Row]:
    """Machines as they can be had: with their GPUs, or where there need be none, without."""
    hosts: dict[str, list[Row]] = defaultdict(list)
    accelerators = []
    for row in rows:
        if row.instance_type and row.accelerator:
            yield row
        elif row.instance_type:
            hosts[row.zone].append(row)
            if not row.instance_type.startswith(_WITH_GPUS):
                yield row
        else:
            accelerators.append(row)
    for accelerator in accelerators:
        if accelerator.accelerator.startswith("tpu-"):
            yield replace(accelerator, instance_type=TPU_HOST)
            continue
        for host in hosts[accelerator.zone]:
            if _takes(host, accelerator):
                yield _together(host, accelerator)


def _takes(host: Row, accelerator: Row) -> bool:
    name, count = accelerator.accelerator.lower(), accelerator.accelerator_count
    fixed = _FIXED.get((name, count))
    if fixed is not None:
        return host.instance_type in fixed
    most = _MOST_VCPUS.get(name, {}).get(count, 0)
    return host.instance_type.startswith(_N1) and host.vcpus <= most


def _together(host: Row, accelerator: Row) -> Row:
    return replace(
        accelerator,
        instance_type=host.instance_type,
        vcpus=host.vcpus,
        memory_gib=host.memory_gib,
        price=_sum(host.price, accelerator.price),
        spot_price=_sum(host.spot_price, accelerator.spot_price),
    )


def _sum(host: float | None, accelerator: float | None) -> float | None:
    """None: one of them cannot be had that way."""
    return None if host is None or accelerator is None else round(host + accelerator, 9)
