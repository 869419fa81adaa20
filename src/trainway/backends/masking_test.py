from trainway.backends.masking import MASK, masked_object


def test_of_a_secret_only_the_keys_are_shown() -> None:
    secret = {
        "kind": "Secret",
        "metadata": {"name": "s", "annotations": {"last-applied": "token: hidden"}},
        "data": {"a": "aGlkZGVu"},
        "stringData": {"b": "hidden"},
    }
    shown = masked_object(secret)
    assert shown == {
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"a": MASK},
        "stringData": {"b": MASK},
    }
    assert secret["data"] == {"a": "aGlkZGVu"}


def test_of_a_very_large_config_map_the_sizes_are_shown() -> None:
    obj = {
        "kind": "ConfigMap",
        "metadata": {"name": "files"},
        "data": {"train.py": "print()"},
        "binaryData": {"arguments": "A" * 100_000},
    }
    assert masked_object(obj) == {
        **obj,
        "data": {"train.py": "(7 characters)"},
        "binaryData": {"arguments": "(100000 characters)"},
    }


def test_other_objects_are_shown_as_they_are() -> None:
    obj = {"kind": "ConfigMap", "metadata": {"annotations": {"x": "y"}}, "data": {"a": "b"}}
    assert masked_object(obj) is obj
    assert masked_object({"kind": "Secret", "data": None}) == {"kind": "Secret", "data": None}
