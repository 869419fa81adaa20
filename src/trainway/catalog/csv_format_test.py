from dataclasses import dataclass

import pytest

from trainway.catalog.csv_format import rows
from trainway.catalog.gpu_memory import accelerator_gib
from trainway.errors import UnreadableError

HEADER = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region"
)


@dataclass(frozen=True)
class Case:
    name: str
    line: str
    prices: tuple[float | None, float | None] | None
    """None: the line is no offer."""


CASES = [
    Case("both prices", "a,,,4,16,,0.5,0.2,here", (0.5, 0.2)),
    Case("no spot", "a,,,4,16,,0.5,,here", (0.5, None)),
    Case("spot only", "a,,,4,16,,,0.2,here", (None, 0.2)),
    Case("a price of nothing is none", "a,,,4,16,,0.0,0.2,here", (None, 0.2)),
    Case("no price", "a,,,4,16,,,,here", None),
    Case("nothing but zeros", "a,,,4,16,,0,0.0,here", None),
    Case("no region", "a,,,4,16,,0.5,0.2,", None),
    Case("neither a type nor an accelerator", ",,,4,16,,0.5,0.2,here", None),
    Case("an accelerator without its host", ",T4,1,,,,0.5,0.2,here", (0.5, 0.2)),
    Case("an empty line", "", None),
    Case("not a number, as pandas writes it", "a,,,4,16,,nan,inf,here", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_an_offer(case: Case) -> None:
    found = [(row.price, row.spot_price) for row in rows([HEADER, case.line], "x.csv")]
    assert found == ([] if case.prices is None else [case.prices])


@dataclass(frozen=True)
class Bad:
    lines: tuple[str, ...]
    said: str


BAD = [
    Bad(("InstanceType,vCPUs", "a,4"), "x.csv: it has no column MemoryGiB"),
    Bad((), "x.csv: it has no column InstanceType"),
    Bad((HEADER, "a,,,four,16,,1,,here"), "x.csv: line 2 cannot be read: could not convert"),
    Bad((HEADER, "a,,,4,16,,1,,here", "b,,,4"), "x.csv: line 3 cannot be read: it has fewer"),
    Bad(
        (HEADER, f"a,,,4,16,{'x' * 200_000},1,,here"), "x.csv: line 2 cannot be read: field larger"
    ),
    Bad(("x" * 200_000,), "x.csv: line 1 cannot be read: field larger"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.said)
def test_a_line_that_cannot_be_read_is_named(bad: Bad) -> None:
    with pytest.raises(UnreadableError) as error:
        list(rows(bad.lines, "x.csv"))
    assert str(error.value).startswith(bad.said)


@pytest.mark.parametrize(
    ("name", "info", "gib"),
    [
        ("A100-80GB", "", 80),
        ("a100", "'SizeInMiB': 81920", 40),
        ("Unheard-Of", "{'MemoryInfo': {'SizeInMiB': 49152}}", 48),
        ("Unheard-Of", "{'MemoryInfo': {'SizeInMiB': 48}}", 48),
        ("PRO-6000-MIG-24GB", "", 24),
        ("Unheard-Of", "", 0),
    ],
)
def test_the_memory_of_an_accelerator(name: str, info: str, gib: float) -> None:
    assert accelerator_gib(name, info) == gib


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (",,,,", (0, "", False)),
        ("ssd,True,1000,8,4", (8000, "nvme", True)),
        ("SSD,False,300,,0", (300, "ssd", False)),
        ("hdd,,2000,2,", (4000, "hdd", False)),
    ],
)
def test_disks_inside_of_a_machine_and_its_network(
    cells: str, expected: tuple[float, str, bool]
) -> None:
    more = "LocalDiskType,NVMeSupported,LocalDiskSize,LocalDiskCount,MaximumEfaInterfaces"
    (row,) = rows([f"{HEADER},{more}", f"a,,,4,16,,0.5,,here,{cells}"], "x.csv")
    assert (row.local_disk_gb, row.local_disk_kind, row.fast_network) == expected
