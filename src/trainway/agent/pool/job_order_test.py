from itertools import pairwise

from trainway.agent.pool.job_order import order_at, order_of


def test_ids_tell_in_which_order_jobs_were_submitted() -> None:
    ids = ["350as45bxpn4", "350as45bxpn5", "350asdwhdea1", "350at9ky0scn", "350z00000000"]
    orders = [order_of(each) for each in ids]
    assert all(a is not None and b is not None and a < b for a, b in pairwise(orders))
    assert order_of("j1") is None


def test_a_moment_is_between_the_jobs_before_and_after_it() -> None:
    before, after = order_of("350as45bxpn4"), order_of("350z00000000")
    assert before is not None
    assert after is not None
    moment = 1577836800.0 + (before >> 19) / 1000 + 1.0
    assert before < order_at(moment) < after
