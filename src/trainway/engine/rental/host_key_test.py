"""The host key that rented machines start with."""

from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
)

from trainway.engine.rental.host_key import host_key, is_given
from trainway.engine.rental.record import Rental, request_text
from trainway.providers.base import GangRequest, Place


def test_it_is_made_once_for_each_rental_and_known_before_anybody_answers(tmp_path: Path) -> None:
    first = host_key(tmp_path, "t1", is_wanted=True)
    folder = tmp_path / "clouds"
    public = load_ssh_private_key(first.encode(), None).public_key()
    line = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    assert (folder / "known_hosts-t1").read_text() == f"* {line}\n"
    assert (folder / "host_key-t1").stat().st_mode & 0o777 == 0o600
    assert host_key(tmp_path, "t1", is_wanted=False) == first, "what was sent stays"
    assert host_key(tmp_path, "t2", is_wanted=True) != first
    assert [is_given(str(folder), token) for token in ("t1", "t2", "t3")] == [True, True, False]


def test_a_server_that_was_killed_in_between_makes_another(tmp_path: Path) -> None:
    host_key(tmp_path, "t1", is_wanted=True)
    known, private = (tmp_path / "clouds" / f"{name}-t1" for name in ("known_hosts", "host_key"))
    before = known.read_text()
    private.unlink()  # it is written last
    assert not is_given(str(tmp_path / "clouds"), "t1")
    assert host_key(tmp_path, "t1", is_wanted=True)
    assert known.read_text() != before


def test_nobody_who_does_not_want_it_has_one(tmp_path: Path) -> None:
    assert host_key(tmp_path, "t1", is_wanted=False) == ""
    assert list(tmp_path.iterdir()) == []


def test_the_ledger_and_logs_do_not_have_it() -> None:
    secret = "it is a secret"  # noqa: S105 - it is none
    gang = GangRequest("t1", "o", "dev", Place("east"), "p5", 1, "key", host_key=secret)
    text = request_text(gang)
    assert secret not in text + repr(gang)
    assert Rental(cluster="dev", token="t1", request=text).gang.host_key == ""  # noqa: S106 - a name
