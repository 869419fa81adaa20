from trainway.catalog.csv_format import Row
from trainway.catalog.google_hosts import TPU_HOST, with_hosts


def host(name: str, vcpus: float, zone: str = "a", price: float | None = 1) -> Row:
    return Row(name, vcpus, 16, "", 0, 0, "here", zone, price, 0.5)


def gpu(name: str, count: float, zone: str = "a", price: float | None = 2) -> Row:
    return Row("", 0, 0, name, count, 16, "here", zone, price, 0.25)


def pairs(*rows: Row) -> list[tuple[str, str, float | None, float | None]]:
    found = with_hosts(rows)
    return [(row.instance_type, row.accelerator, row.price, row.spot_price) for row in found]


def test_a_gpu_and_its_host_share_a_zone_and_their_prices_add_up() -> None:
    found = pairs(host("g2-standard-4", 4), host("g2-standard-4", 4, "b"), gpu("L4", 1))
    assert found == [("g2-standard-4", "L4", 3, 0.75)]


def test_a_machine_with_gpus_is_not_to_be_had_without_them() -> None:
    assert pairs(host("a2-highgpu-1g", 12)) == []
    assert pairs(host("n1-standard-4", 4)) == [("n1-standard-4", "", 1, 0.5)]


def test_n1_hosts_take_gpus_up_to_a_size() -> None:
    hosts = [host("n1-standard-8", 8), host("n1-standard-16", 16), host("n1-ultramem-40", 8)]
    found = pairs(*hosts, gpu("V100", 1))
    assert [name for name, accelerator, *_ in found if accelerator] == ["n1-standard-8"]


def test_so_many_gpus_need_the_machine_that_has_them() -> None:
    found = pairs(host("a2-highgpu-1g", 12), host("a2-highgpu-8g", 96), gpu("A100", 8))
    assert [name for name, *_ in found] == ["a2-highgpu-8g"]


def test_what_one_of_them_cannot_be_had_for_neither_can() -> None:
    found = pairs(host("g2-standard-4", 4, price=None), gpu("L4", 1))
    assert found == [("g2-standard-4", "L4", None, 0.75)]


def test_a_tpu_comes_with_its_host() -> None:
    assert pairs(gpu("tpu-v5litepod-8", 1)) == [(TPU_HOST, "tpu-v5litepod-8", 2, 0.25)]
