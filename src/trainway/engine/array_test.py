from trainway.backends.base import ArrayPlace
from trainway.engine.array import place_of, placed


def test_labels_tell_the_place() -> None:
    place = ArrayPlace("abc", 3, 8)
    labels = placed({"a": "b"}, place)
    assert place_of(labels) == place
    assert placed(labels, None) == {"a": "b"}
    assert place_of({"a": "b"}) is None
