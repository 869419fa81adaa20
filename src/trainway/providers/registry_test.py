"""Which provider a cloud has, and what is said where there is none."""

import sys

import pytest

from trainway.errors import NotFoundError, UnavailableError
from trainway.providers import registry


def test_an_unknown_cloud_is_told_which_there_are() -> None:
    with pytest.raises(NotFoundError, match="no provider for the cloud 'awz'") as caught:
        registry.provider("awz")

    assert "aws" in (caught.value.hint or "")


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILTIN", {"aws": "no_such_cloud_package.provider:Provider"})

    with pytest.raises(UnavailableError, match="no_such_cloud_package") as caught:
        registry.provider("aws")

    assert caught.value.hint == "pip install 'trainway[aws]'"


@pytest.mark.parametrize("cloud", ["azure", "gcp", "lambda", "runpod"])
def test_a_provider_is_made_without_asking_anybody(cloud: str) -> None:
    assert registry.provider(cloud).cloud == cloud


def test_a_package_that_is_missed_only_in_use_is_named_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)

    with pytest.raises(UnavailableError, match=r"needs the package google\.auth") as caught:
        registry.provider("gcp")

    assert caught.value.hint == "pip install 'trainway[gcp]'"
