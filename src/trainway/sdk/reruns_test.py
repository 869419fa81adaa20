"""What a program wants to be different, as it is sent."""

from trainway.sdk.reruns import difference


def test_values_are_sent_as_yaml() -> None:
    wanted = difference({"LR": 0.1}, {"spec.trainer.numNodes": 4, "a[b.c]": "0.10", "d": None})
    assert wanted.body() == {
        "env": {"LR": "0.1"},
        "set": ["spec.trainer.numNodes=4", 'a[b.c]="0.10"', "d=null"],
    }
    assert wanted
    assert not difference(None, None)
