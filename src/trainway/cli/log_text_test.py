import pytest

from trainway.cli.log_text import LogText, batches, shown
from trainway.sdk.log_line import LogLine


def test_who_wrote_a_line_stands_before_it() -> None:
    lines = [
        LogLine("a", "node", 0, container="node"),
        LogLine("b", "launcher", 10, container="node"),
        LogLine("c", "node", 0, job=2, container="node"),
        LogLine("d", "node", 0, container="sidecar"),
    ]
    assert LogText(colourful=False).lines(lines) == (
        "node-0 | a\nlauncher-10 | b\nnode-2-0    | c\nnode-0/sidecar | d\n"
    )


def test_lines_can_stand_alone() -> None:
    text = LogText(colourful=False, prefix=False)
    assert text.lines([LogLine("\x1b[2Ja\tb", "node", 0)]) == "\x1b[2Ja\tb\n"


def test_the_parts_of_a_long_line_are_joined() -> None:
    text = LogText(colourful=False, prefix=False)
    first = [LogLine("a", "node", 0, partial=True), LogLine("b", "node", 0, partial=True)]
    assert text.lines(first) == "ab"
    assert text.lines([LogLine("c", "node", 0), LogLine("d", "node", 0)]) == "c\nd\n"
    assert text.rest() == ""
    mixed = [LogLine("e", "node", 0, partial=True), LogLine("f", "node", 1, partial=True)]
    assert text.lines(mixed) == "e\nf"
    assert (text.rest(), text.rest()) == ("\n", "")


def test_a_line_of_several_parts_has_its_writer_once() -> None:
    begun, end = LogLine("a", "node", 0, partial=True), LogLine("b", "node", 0)
    other = LogLine("c", "node", 1)
    text = LogText(colourful=False)
    assert text.lines([begun, begun]) + text.lines([end, end]) == "node-0 | aab\nnode-0 | b\n"
    assert text.lines([begun, other, end]) == "node-0 | a\nnode-1 | c\nnode-0 | b\n"
    apart = LogText(colourful=False, joined=False)
    assert apart.lines([begun, end]) == "node-0 | a\nnode-0 | b\n"


def test_what_is_shown_together_is_not_too_much() -> None:
    lines = [LogLine("x" * 300_000, "node", rank) for rank in range(10)]
    assert [len(batch) for batch in batches(lines, 500)] == [4, 4, 2]
    assert [len(batch) for batch in batches(lines, 1)] == [1] * 10


def test_every_node_has_its_colour() -> None:
    text = LogText(colourful=True)
    lines = text.lines([LogLine(str(rank), "node", rank) for rank in (0, 1, 0)]).splitlines()
    assert lines[0].replace("0\x1b", "\x1b") == lines[2].replace("0\x1b", "\x1b")
    assert [line[:5] for line in lines] == ["\x1b[36m", "\x1b[32m", "\x1b[36m"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain ä", "plain ä"),
        ("a\tb", "a\tb"),
        ("10%\r20%\r30%", "30%"),
        ("done\r", "done"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m\x1b[0m"),
        ("\x1b[2J\x1b[1;1Hx", "x\x1b[0m"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("\x07\x08\x00x", "x"),
        ("\x1bcx", "x"),
        ("x\x1b", "x"),
    ],
)
def test_nothing_in_a_line_steers_the_terminal(text: str, seen: str) -> None:
    assert shown(text) == seen
