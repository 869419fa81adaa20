import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trainway.kube.certificate_keeper import CertificateError, CertificateFiles, keep
from trainway.kube.certificates import Certificates, end_of, renewed

NAMES = ("localhost", "127.0.0.1")


def write(folder: Path, *, with_authority: bool = True) -> Certificates:
    certificates, _ = renewed(None, NAMES, datetime.now(UTC))
    (folder / "tls.crt").write_text(certificates.certificate)
    (folder / "tls.key").write_text(certificates.key)
    if with_authority:
        (folder / "ca.crt").write_text(certificates.authorities)
    return certificates


async def is_served(context: ssl.SSLContext, authorities: str) -> bool:
    """Whether a client that trusts the authorities can speak to a server with this context."""

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        trusting = ssl.create_default_context(cadata=authorities)
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        except ssl.SSLCertVerificationError:
            return False
        writer.close()
        return True


def test_files_are_served_and_loaded_anew_when_they_change(tmp_path: Path) -> None:
    async def main() -> None:
        old = write(tmp_path)
        keeper = CertificateFiles(tmp_path)
        early, late = (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in range(2))
        keeper.attach(early)
        before = keeper.ready
        await keeper.refresh()
        keeper.attach(late)
        assert (before, keeper.ready) == (False, True)
        assert keeper.authorities == old.authorities
        for context in (early, late):
            assert await is_served(context, old.authorities)
        new = write(tmp_path)
        await keeper.refresh()
        for context in (early, late):
            assert not await is_served(context, old.authorities)
            assert await is_served(context, new.authorities)

    asyncio.run(main())


def test_an_authority_need_not_be_known(tmp_path: Path) -> None:
    write(tmp_path, with_authority=False)
    keeper = CertificateFiles(tmp_path)
    asyncio.run(keeper.refresh())
    assert (keeper.ready, keeper.authorities) == (True, "")


def test_files_that_cannot_be_used_are_told_and_the_old_ones_stay(tmp_path: Path) -> None:
    keeper = CertificateFiles(tmp_path)
    with pytest.raises(CertificateError, match="cannot read the certificate"):
        asyncio.run(keeper.refresh())
    good = write(tmp_path)
    asyncio.run(keeper.refresh())
    (tmp_path / "tls.key").write_text("nothing")
    with pytest.raises(CertificateError, match="cannot serve with"):
        asyncio.run(keeper.refresh())
    assert (keeper.ready, keeper.authorities) == (True, good.authorities)
    assert keeper.end == end_of(good.certificate.encode())


def test_the_end_of_a_certificate_that_cannot_be_read_is_not_known() -> None:
    assert end_of(b"nothing") is None


class Flaky:
    """Fails once, then notes that it was asked again."""

    def __init__(self) -> None:
        self.asked = 0
        self.recovered = asyncio.Event()

    authorities = ""
    ready = True
    end = None

    def attach(self, context: ssl.SSLContext) -> None:
        raise AssertionError(f"not asked for {context}")

    async def refresh(self) -> None:
        self.asked += 1
        if self.asked == 1:
            raise CertificateError("not now")
        self.recovered.set()


def test_what_fails_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        keeper = Flaky()
        task = asyncio.create_task(keep(keeper, seconds=0.001))
        await asyncio.wait_for(keeper.recovered.wait(), 60)
        task.cancel()

    asyncio.run(main())
    assert caplog.messages == ["cannot look after certificates: not now"]
