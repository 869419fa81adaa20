"""Price lists of clouds, with answers written from the public documentation of each.

No answer was recorded: the forms are those of the AWS Price List Bulk API, the Azure Retail Prices
API and the Cloud Billing Catalog API as their documentation describes them.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from trainway.catalog.csv_format import Row, rows
from trainway.catalog.refresh import aws_prices, azure_prices
from trainway.catalog.refresh.machine_price import MachineFacts
from trainway.catalog.refresh.price_lists import Downloads, facts_of, fetched
from trainway.errors import TrainwayError
from trainway.json_types import Json

_HEADER = (
    '"SKU","TermType","Unit","PricePerUnit","Currency","Instance Type","vCPU","Memory","GPU",'
    '"Operating System","Pre Installed S/W","Tenancy","CapacityStatus","Region Code"'
)


def aws_line(name: str, price: str, **other: str) -> str:
    told = {
        "term": "OnDemand", "unit": "Hrs", "cpus": "8", "memory": "32 GiB", "gpus": "NA",
        "os": "Linux", "software": "NA", "tenancy": "Shared", "capacity": "Used", **other,
    }  # fmt: skip
    cells = ("X", told["term"], told["unit"], price, "USD", name, told["cpus"], told["memory"],
             told["gpus"], told["os"], told["software"], told["tenancy"], told["capacity"],
             "us-east-1")  # fmt: skip
    return ",".join(f'"{cell}"' for cell in cells)


AWS = [
    '"FormatVersion","v1.0"',
    '"Disclaimer","This pricing list is for informational purposes only."',
    '"Publication Date","2026-11-01T00:00:00Z"',
    '"Version","20261101000000"',
    '"OfferCode","AmazonEC2"',
    _HEADER,
    aws_line("m6i.2xlarge", "0.3840000000"),
    aws_line("p4d.24xlarge", "21.9576", cpus="96", memory="1,152 GiB", gpus="8"),
    aws_line("m6i.2xlarge", "0.752", os="Windows"),
    aws_line("m6i.2xlarge", "0.2", term="Reserved"),
    aws_line("m6i.2xlarge", "0.4", tenancy="Dedicated"),
    aws_line("m6i.2xlarge", "0.9", software="SQL Web"),
    aws_line("m6i.2xlarge", "0.0", capacity="UnusedCapacityReservation"),
    '"broken"',
]


def azure_item(name: str, price: float, product: str = "Series", sku: str = "x") -> Json:
    return {
        "currencyCode": "USD", "retailPrice": price, "armRegionName": "eastus",
        "unitOfMeasure": "1 Hour", "armSkuName": name, "productName": f"Virtual Machines {product}",
        "skuName": sku, "type": "Consumption",
    }  # fmt: skip


FIRST, SECOND = azure_prices.url("eastus"), azure_prices.url("eastus") + "&$skip=1000"
AZURE: dict[str, Json] = {
    FIRST: {
        "Items": [
            azure_item("Standard_D8s_v5", 0.384),
            azure_item("Standard_D8s_v5", 0.752, product="Dsv5 Series Windows"),
            azure_item("Standard_D8s_v5", 0.1, sku="D8s v5 Low Priority"),
            azure_item("Standard_NC48ads_A100_v4", 7.346),
            {**azure_item("Standard_D8s_v5", 900.0), "unitOfMeasure": "1 Month"},
        ],
        "NextPageLink": SECOND,
    },
    SECOND: {
        "Items": [azure_item("Standard_D8s_v5", 0.08, sku="D8s v5 Spot"),
                  azure_item("Standard_ND96asr_v4", 27.197)],
        "NextPageLink": "https://elsewhere.example.org/prices",
    },
}  # fmt: skip


def sku(description: str, nanos: int, usage: str = "OnDemand", units: str = "0") -> Json:
    unit = {"currencyCode": "USD", "units": units, "nanos": nanos}
    rate = {"startUsageAmount": 0, "unitPrice": unit}
    return {
        "description": description,
        "category": {"resourceFamily": "Compute", "usageType": usage},
        "serviceRegions": ["us-central1"],
        "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [rate]}}],
    }


GOOGLE: list[Json] = [
    {
        "skus": [
            sku("A2 Instance Core running in Americas", 31_611_000),
            sku("A2 Instance Ram running in Americas", 4_237_000),
            sku("N1 Predefined Instance Core running in Americas", 31_611_000),
            sku("Network Internet Egress", 1),
        ],
        "nextPageToken": "more",
    },
    {
        "skus": [
            sku("Nvidia Tesla A100 GPU running in Americas", 933_908_000, units="2"),
            sku("Spot Preemptible A2 Instance Core running in Americas", 10_000_000, "Preemptible"),
        ]
    },
]
KNOWN = {
    "a2-highgpu-1g": MachineFacts(12, 85, "A100", 1),
    "n1-standard-4": MachineFacts(4, 15),
    "Standard_D8s_v5": MachineFacts(8, 32),
}


def found(cloud: str, downloads: Downloads, key: str = "secret") -> dict[str, Row]:
    regions = {"aws": ["us-east-1"], "azure": ["eastus"]}.get(cloud, [])
    text = fetched(cloud, regions, KNOWN, key, downloads)
    return {row.instance_type: row for row in rows(text.splitlines(), "test")}


def test_amazon() -> None:
    def lines(url: str) -> Iterable[str]:
        assert url == aws_prices.url("us-east-1")
        return iter(AWS)

    offers = found("aws", Downloads(lines=lines))
    assert {name: row.price for name, row in offers.items()} == {
        "m6i.2xlarge": 0.384,
        "p4d.24xlarge": 21.9576,
    }
    large = offers["p4d.24xlarge"]
    assert (large.vcpus, large.memory_gib) == (96, 1152)
    assert (large.accelerator, large.accelerator_count, large.region) == ("A100", 8, "us-east-1")


def test_microsoft() -> None:
    asked: list[str] = []

    def page(url: str) -> Json:
        asked.append(url)
        return AZURE[url]

    offers = found("azure", Downloads(page=page))
    assert asked == [FIRST, SECOND]  # and not where a page sends us that is another's
    plain = offers["Standard_D8s_v5"]
    assert (plain.price, plain.spot_price, plain.memory_gib) == (0.384, 0.08, 32)
    two, eight = offers["Standard_NC48ads_A100_v4"], offers["Standard_ND96asr_v4"]
    assert (two.vcpus, two.accelerator, two.accelerator_count) == (48, "A100-80GB", 2)
    assert (eight.accelerator, eight.accelerator_count) == ("A100", 8)


def test_google() -> None:
    pages = iter(GOOGLE)
    offers = found("gcp", Downloads(page=lambda _: next(pages)))
    assert list(offers) == ["a2-highgpu-1g"]  # memory of N1 has no price, and so it has none
    one = offers["a2-highgpu-1g"]
    assert one.price == pytest.approx(12 * 0.031611 + 85 * 0.004237 + 2.933908)
    assert (one.spot_price, one.region) == (None, "us-central1")


@pytest.mark.parametrize(
    ("cloud", "key", "answer", "said"),
    [
        ("gcp", "", {}, "needs an API key"),
        ("gcp", "x", {}, "has no skus"),
        ("azure", "", {"Items": None}, "have no Items"),
        ("aws", "", {}, "has no column"),
        ("oci", "", {}, "publishes no price list"),
    ],
)
def test_what_cannot_be_read(cloud: str, key: str, answer: Any, said: str) -> None:
    downloads = Downloads(lines=lambda _: ["<html>"], page=lambda _: answer)
    with pytest.raises(TrainwayError, match=said):
        fetched(cloud, [], {}, key, downloads)


def test_facts_are_those_of_the_offers_that_there_are() -> None:
    lines = ["InstanceType,vCPUs,MemoryGiB,Price,Region", "a,8,32,1,r", ",1,1,1,r"]
    assert facts_of(rows(lines, "x")) == {"a": MachineFacts(8, 32)}
