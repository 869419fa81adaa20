from trainway.kube.queue_position import path, position_in


def test_the_path() -> None:
    assert path("v1beta1", "n", "q") == (
        "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/n/localqueues/q/pendingworkloads?limit=1000"
    )


def test_positions_count_from_one() -> None:
    items = [
        {"metadata": {"name": "a"}, "positionInLocalQueue": 0, "positionInClusterQueue": 4},
        {"metadata": {"name": "b"}, "positionInLocalQueue": 1, "positionInClusterQueue": 7},
    ]
    assert [position_in({"items": items}, name) for name in ("a", "b", "c")] == [1, 2, None]
    assert position_in({}, "a") is None
