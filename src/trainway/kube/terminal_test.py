import asyncio
import os
import pty
import termios

from trainway.kube.terminal import raw, size, typed


def test_the_size_as_the_other_side_wants_it() -> None:
    assert size(lambda _file: os.terminal_size((120, 40))) == b'{"Width":120,"Height":40}'


def test_input_is_passed_on_to_its_end() -> None:
    reader, writer = os.pipe()

    async def read() -> bytes:
        return b"".join([block async for block in typed(reader)])

    async def both() -> bytes:
        reading = asyncio.create_task(read())
        await asyncio.to_thread(os.write, writer, b"a" * 50_000)
        os.close(writer)
        return await reading

    assert asyncio.run(both()) == b"a" * 50_000
    os.close(reader)


def test_a_terminal_is_as_before_in_the_end() -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with raw(theirs):
        assert not termios.tcgetattr(theirs)[3] & (termios.ECHO | termios.ISIG)
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)
