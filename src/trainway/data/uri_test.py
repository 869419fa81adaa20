from dataclasses import dataclass

import pytest

from trainway.data.uri import Location, Repository, has_scheme, parse, parse_repository
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    text: str
    location: Location
    shown: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("s3://data/train/a.bin", Location("s3", "data", "train/a.bin")),
        Case("S3://data/train/", Location("s3", "data", "train", is_folder=True), "s3://data/train/"),
        Case("gs://data", Location("gs", "data", "", is_folder=True)),
        Case("az://box/a b", Location("az", "box", "a b")),
        Case("r2://data/a%2Fb", Location("r2", "data", "a%2Fb")),
        Case("hf://org/name", Location("hf", "org/name", "", is_folder=True)),
        Case("hf://models/org/name/a.json", Location("hf", "org/name", "a.json"), "hf://org/name/a.json"),
        Case("hf://datasets/org/name@v1/d/a", Location("hf", "datasets/org/name@v1", "d/a")),
        Case("https://Host.example:8443/a/b", Location("https", "host.example:8443", "a/b"), "https://host.example:8443/a/b"),
        Case("https://h/a?sig=1#x", Location("https", "h", "a", query="sig=1"), "https://h/a"),
        Case("file:///srv/a%20b", Location("file", "", "srv/a b"), "file:///srv/a b"),
    ],
    ids=lambda case: case.text,
)  # fmt: skip
def test_a_uri_names_a_place(case: Case) -> None:
    found = parse(case.text)

    assert found == case.location
    assert str(found) == (case.shown or case.text)
    assert "sig" not in repr(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("data/a", "is not a URI"),
        ("s3:///a", "the bucket has no name"),
        ("s3://", "the bucket has no name"),
        ("az:///a", "the container has no name"),
        ("s3://bu cket/a", "is not a valid name for a bucket"),
        ("s3://../a", "is not a valid name for a bucket"),
        ("s3://data/a/../b", '".."'),
        ("s3://data/./b", '"."'),
        ("s3://data//b", "a name is empty"),
        ("gs://data/a\nb", "control characters"),
        ("hf://name", "does not name a repository"),
        ("hf://datasets/name", "does not name a repository"),
        ("hf://org/../name", "does not name a repository"),
        ("hf://org/name/../../x", '".."'),
        ("https://host", "does not name a file"),
        ("https:///a", "does not name a file"),
        ("file://other/a", "does not name a file of this machine"),
        ("file:///a/%2e%2e/b", '".."'),
        ("file:///a%00b", "control characters"),
        ("http://host/a", "not a scheme"),
        ("ftp://host/a", "not a scheme"),
    ],
)
def test_what_names_no_place_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text)

    assert said in raised.value.message


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("s3:/data/a", "s3://data/a"),
        ("s3:data/a", "s3://data/a"),
        ("s3//data/a", "s3://data/a"),
        ("gs:", "gs://"),
        ("hf:org/name", "hf://org/name"),
        ("https:/host/a", "https://host/a"),
        ("file:/srv/a", "file:///srv/a"),
    ],
)
def test_a_slip_is_no_folder_of_this_machine(text: str, meant: str) -> None:
    assert has_scheme(text)
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert raised.value.message == f"{text} is not a URI"
    assert raised.value.hint == f"did you mean {meant}? A path of this machine is ./{text}"


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UsageError) as raised:
        parse("https://ada:secret@host/a?sig=1")

    assert "secret" not in raised.value.sentence
    assert "sig" not in raised.value.sentence


@pytest.mark.parametrize(
    ("bucket", "repository"),
    [
        ("org/name", Repository("models", "org/name")),
        ("datasets/org/name@v1", Repository("datasets", "org/name", "v1")),
        ("org/name@refs%2Fpr%2F1", Repository("models", "org/name", "refs/pr/1")),
    ],
)
def test_a_bucket_of_the_hub_is_a_repository(bucket: str, repository: Repository) -> None:
    assert parse_repository(bucket) == repository


@pytest.mark.parametrize(
    ("text", "is_uri"),
    [
        ("s3://a", True),
        ("./a", False),
        ("c:/a", False),
        ("./s3:/a", False),
        ("s3/a", False),
        ("s3", False),
        ("https/a", False),
    ],
)
def test_a_word_with_a_scheme_is_a_uri(text: str, *, is_uri: bool) -> None:
    assert has_scheme(text) is is_uri
