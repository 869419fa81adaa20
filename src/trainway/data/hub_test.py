import random
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from trainway.data.hub import Hub, find_token
from trainway.data.hub_testing import NAME, TOKEN, PretendedHub, served
from trainway.data.patterns import Patterns
from trainway.data.selection import select
from trainway.data.transfer import Options, Wanted, fetch
from trainway.data.uri import parse
from trainway.data.web import Answer
from trainway.errors import ForbiddenError, NotFoundError, UnavailableError, UsageError

LARGE = random.Random(1).randbytes(5000)  # noqa: S311 - content of a test
FILES = {"config.json": b"{}", "d/a b.txt": b"text", "model.safetensors": LARGE, "x/y/z": b""}
MODEL = parse(f"hf://{NAME}")


@pytest.fixture
def hub() -> Iterator[PretendedHub]:
    with served(PretendedHub(FILES)) as hub:
        yield hub


def opened(hub: PretendedHub, uri: str = f"hf://{NAME}", **variables: str) -> Hub:
    return Hub(parse(uri), {"HF_ENDPOINT": hub.address, "HF_HOME": "/nowhere", **variables})


def test_a_repository_arrives_with_all_its_files(hub: PretendedHub, tmp_path: Path) -> None:
    source = opened(hub, HF_TOKEN=TOKEN)
    files = select(source, MODEL).files
    wanted = [Wanted(source, each.entry, each.name, tmp_path / each.name) for each in files]

    outcome = fetch(wanted, Options(part_size=1024))
    again = fetch(wanted, Options(part_size=1024))

    assert {name: (tmp_path / name).read_bytes() for name in FILES} == FILES
    assert (outcome.files, outcome.fetched, again.fetched) == (4, 5006, 0)
    assert hub.tokens_elsewhere == []


def test_a_folder_and_a_file_of_a_repository_can_be_meant(hub: PretendedHub) -> None:
    source = opened(hub)
    folder, file = parse(f"hf://{NAME}/d"), parse(f"hf://{NAME}/d/a b.txt")

    assert [each.name for each in select(source, folder).files] == ["a b.txt"]
    assert select(source, file).is_file
    assert [each.name for each in select(source, MODEL, Patterns(["*.json"])).files] == [
        "config.json"
    ]
    with pytest.raises(NotFoundError, match="there is nothing at hf://org/tiny/no"):
        select(source, parse(f"hf://{NAME}/no"))


@pytest.mark.parametrize(
    ("variables", "said"),
    [({}, "no token was found in HF_TOKEN"), ({"HF_TOKEN": "hf_wrong"}, "the token of HF_TOKEN")],
)
def test_a_private_repository_says_which_token_was_looked_for(
    hub: PretendedHub, variables: dict[str, str], said: str
) -> None:
    hub.is_private = True

    with pytest.raises(ForbiddenError) as raised:
        select(opened(hub, **variables), MODEL)

    assert said in raised.value.sentence
    assert "hf_wrong" not in raised.value.sentence
    assert select(opened(hub, HF_TOKEN=TOKEN), MODEL).size == 5006


def test_a_repository_that_is_not_there_is_told(hub: PretendedHub) -> None:
    with pytest.raises(NotFoundError, match="there is nothing at hf://org/other"):
        select(opened(hub, "hf://org/other"), parse("hf://org/other"))


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "no list"},
        [1],
        [{"type": "file"}],
        [{"type": "file", "path": "a", "size": "much"}],
        [{"type": "file", "path": "a", "size": -1}],
        [{"type": "file", "path": "a", "size": 1, "lfs": 7}],
        [{"type": "file", "path": "a", "size": float("inf")}],
        [{"type": "file", "path": "a", "size": 1.5}],
        [{"type": "file", "path": "a", "size": 10**30}],
        [{"type": "file", "path": None, "size": 1}],
        [{"type": "file", "path": "a\ud800b", "size": 1}],
        [{"type": "file", "path": "a", "size": 1, "lfs": {"oid": "x/../../evil", "size": 1}}],
    ],
    ids=str,
)
def test_an_answer_that_is_none_of_a_hub_is_one_error(
    hub: PretendedHub, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    source = opened(hub)
    monkeypatch.setattr(Hub, "_commit", "0" * 40)
    monkeypatch.setattr(Hub, "_parsed", lambda _self, _answer: answer)

    with pytest.raises(UnavailableError, match="does not answer as a hub does"):
        list(source.list(""))


def test_an_answer_that_is_deeper_than_any_hub_s_is_one_error(
    hub: PretendedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(hub)
    monkeypatch.setattr(Hub, "_asked", lambda *_: Answer(200, Message(), b"[" * 200_000))

    with pytest.raises(UnavailableError, match="does not answer as a hub does"):
        source.stat("a")


def test_a_listing_that_leads_back_to_itself_ends(
    hub: PretendedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, headers = opened(hub), Message()
    headers["Link"] = f'<{hub.address}/again>; rel="next"'
    monkeypatch.setattr(Hub, "_commit", "0" * 40)
    monkeypatch.setattr(Hub, "_asked", lambda *_: Answer(200, headers, b"[]"))

    with pytest.raises(UnavailableError, match="does not answer as a hub does"):
        list(source.list(""))


def test_offline_means_offline() -> None:
    with pytest.raises(UsageError, match="HF_HUB_OFFLINE"):
        Hub(MODEL, {"HF_HUB_OFFLINE": "1"})


def test_an_endpoint_is_an_address() -> None:
    with pytest.raises(UsageError, match="HF_ENDPOINT"):
        Hub(MODEL, {"HF_ENDPOINT": "file:///etc"})


def test_a_token_is_found_in_variables_and_then_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_file\n")
    home = {"HF_HOME": str(tmp_path)}

    assert find_token({**home, "HF_TOKEN": "hf_v"}) == ("hf_v", "HF_TOKEN")
    assert find_token(home) == ("hf_file", str(tmp_path / "token"))
    assert find_token({"HF_HOME": "/nowhere"}) == ("", "")
