"""Which links and notes are taken."""

import json

import pytest

from trainway.jobset.job_remarks import (
    MOST_LINKS,
    link_problem,
    links_problem,
    merged_links,
    note_problem,
    remarks_of,
)
from trainway.jobset.labels import LINKS, NOTE

GOOD = "https://wandb.ai/team/run/1?a=1&b=%20#/x"


@pytest.mark.parametrize(
    "url", [GOOD, "http://localhost:6006", "http://[::1]:6006/", "https://example.org?q=1"]
)
def test_a_web_address_is_a_link(url: str) -> None:
    assert link_problem("wandb", url) is None


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("a", "javascript:alert(1)"),
        ("a", "ftp://example.org"),
        ("a", "HTTPS://example.org"),
        ("a", "https://"),
        ("a", "https://user:secret@example.org/"),
        ("a", "https://example.org/a b"),
        ("a", "https://example.org/\x1b[31m"),
        ("a", 'https://example.org/"><script>'),
        ("a", "https://example.org/\n"),
        ("a", "https://example.org/" + "x" * 2000),
        ("a", None),
        ("a", {"url": GOOD}),
        ("", GOOD),
        ("a b", GOOD),
        ("-a", GOOD),
        ("a\n", GOOD),
        ("a" * 64, GOOD),
        (3, GOOD),
    ],
)
def test_anything_else_is_refused(name: object, url: object) -> None:
    assert link_problem(name, url) is not None


def test_a_job_has_only_so_many_links() -> None:
    many = {f"l{number}": GOOD for number in range(MOST_LINKS + 1)}
    assert links_problem(many) == "a job has at most 20 links"
    known = {"first": GOOD}
    links = merged_links(known, {"bad": "x", **many, "first": "https://other.org"})
    assert len(links) == MOST_LINKS
    assert links["first"] == "https://other.org"
    assert "bad" not in links


def test_a_note_is_text() -> None:
    assert note_problem("two\nlines\tand more: ü") is None
    for wrong in (None, 3, "\x1b[31m", "a\0", "\ud800", "x" * 4001):
        assert note_problem(wrong) is not None


def test_annotations_have_a_note_and_links() -> None:
    def read(**annotations: object) -> object:
        names = {"note": NOTE, "links": LINKS}
        given = {names[key]: value for key, value in annotations.items()}
        return remarks_of({"metadata": {"annotations": given}})

    assert remarks_of(None) == remarks_of({"metadata": 3}) == read() == ({}, [])
    wanted = {"note": "n", "links": {"wandb": GOOD}}
    assert read(note="n", links=json.dumps({"wandb": GOOD})) == (wanted, [])


@pytest.mark.parametrize("text", ["x", "[]", '{"a": "ftp://x"}', '{"a": 1}', "[" * 100_000, 3])
def test_an_annotation_that_has_no_links_is_refused(text: object) -> None:
    _, problems = remarks_of({"metadata": {"annotations": {LINKS: text}}})
    assert len(problems) == 1
    assert problems[0].startswith("metadata.annotations[trainway.dev/links]: ")
