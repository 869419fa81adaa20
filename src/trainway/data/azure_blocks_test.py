import base64
import hashlib
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from trainway.data import store_requests
from trainway.data.azure_address import Method
from trainway.data.azure_blocks import AzureBlocks, Block, block_of
from trainway.data.multipart import Part
from trainway.data.object_store import failure
from trainway.data.store_requests import RefusedError
from trainway.data.uri import parse
from trainway.errors import ConflictError, ForbiddenError, NotFoundError, TrainwayError

DIGEST = hashlib.md5(b"1", usedforsecurity=False).hexdigest()
UPLOAD, OTHER = "0a0b0c0d" * 3, "ff" * 12
MINE = Block(UPLOAD, 2, DIGEST)
LIST = (
    "<?xml version='1.0' encoding='utf-8'?><BlockList>"
    "<CommittedBlocks><Block><Name>{}</Name><Size>8</Size></Block></CommittedBlocks>"
    "<UncommittedBlocks><Block><Name>{}</Name><Size>1</Size></Block>"
    "<Block><Name>{}</Name><Size>9</Size></Block></UncommittedBlocks></BlockList>"
)


def told(error: Exception) -> TrainwayError:
    return failure(parse("az://box/key"), error)


class Canned(AzureBlocks):
    """Is answered with what a test says, in this order."""

    def __init__(self, *answers: str | Exception) -> None:
        self.signed: list[str] = []
        self.answers = list(answers)
        self.asked: list[urllib.request.Request] = []
        super().__init__(self.address, told)

    def address(self, method: Method) -> str:
        self.signed.append(method)
        return f"http://store/box/key?sp={method}&sig=hush"

    def _once(self, method: str, query: Mapping[str, str], body: bytes) -> tuple[str, bytes]:
        self.asked.append(self._built(method, query, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return "", answer.encode()


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_requests, "_PAUSES_S", (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    block: Block | None = None


CASES = (
    Case("ours", MINE.name, MINE),
    Case("the last one", Block(OTHER, 2**32 - 1, DIGEST).name, Block(OTHER, 2**32 - 1, DIGEST)),
    Case("another length", base64.b64encode(b"block-1").decode()),
    Case("no name at all", "???"),
    Case("empty", ""),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_name_of_a_block_says_what_it_is(case: Case) -> None:
    assert block_of(case.text) == case.block
    assert len(base64.b64decode(MINE.name)) == 32, "as long as those of obstore"


def test_only_blocks_of_the_upload_are_there() -> None:
    other = Block(OTHER, 1, DIGEST).name
    whole = Block(MINE.upload, 1, DIGEST).name
    blocks = Canned(LIST.format(whole, MINE.name, other))
    assert blocks.there(MINE.upload) == {1: Part(8, DIGEST), 2: Part(1, DIGEST)}
    assert blocks.asked[0].full_url.endswith("sp=GET&sig=hush&comp=blocklist&blocklisttype=all")
    assert Canned(RefusedError(404, b"")).there(UPLOAD) is None


def test_a_blob_is_sent_and_made() -> None:
    blocks = Canned(RefusedError(404, b"<Code>BlobNotFound</Code>"), "", "")
    upload = blocks.begin()
    assert blocks.put(upload, 1, b"1") == DIGEST
    blocks.complete(upload, {2: "0" * 32, 1: DIGEST})
    blocks.abort(upload)
    _, sent, made = blocks.asked
    assert sent.get_header("Content-md5") == "xMpCOKC5I4INzFCab3WEmw=="
    name = Block(upload, 1, DIGEST).name
    assert sent.full_url.endswith(f"&blockid={quote(name, safe='')}")
    assert isinstance(made.data, bytes)
    first, second = name, Block(upload, 2, "0" * 32).name
    wanted = f"<BlockList><Latest>{first}</Latest><Latest>{second}</Latest></BlockList>"
    assert made.data.decode().endswith(wanted)


def test_an_address_is_signed_anew_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Canned("", "", "")
    blocks.put(UPLOAD, 1, b"1")
    blocks.put(UPLOAD, 2, b"2")
    assert blocks.signed == ["PUT"]
    monkeypatch.setattr("trainway.data.azure_blocks.time.monotonic", lambda: float("inf"))
    blocks.put(UPLOAD, 3, b"3")
    assert blocks.signed == ["PUT", "PUT"]


def test_a_container_that_is_missing_is_said_before_anything_is_sent() -> None:
    with pytest.raises(NotFoundError, match="there is no container az://box"):
        Canned(RefusedError(404, b"<Code>ContainerNotFound</Code>")).begin()


def test_parts_of_another_program_are_told() -> None:
    with pytest.raises(ConflictError, match="another program has begun to send this blob"):
        Canned(RefusedError(400, b"<Code>InvalidBlobOrBlock</Code>")).put(UPLOAD, 1, b"1")


def test_a_refusal_says_nothing_of_the_signature() -> None:
    blocks = Canned(RefusedError(403, b"<Code>AuthenticationFailed</Code>sig=hush"))
    with pytest.raises(ForbiddenError, match="access to az://box/key was denied") as caught:
        blocks.put(UPLOAD, 1, b"1")
    assert "hush" not in caught.value.sentence
    assert blocks.name == "http://store/box/key"
