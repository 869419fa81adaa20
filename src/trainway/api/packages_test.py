import pytest

from trainway.api.packages import (
    LONGEST,
    package_lines,
    packages_errors,
    packages_of,
    with_packages,
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("torch==2.9 trl", ["torch==2.9", "trl"]),
        ("torch >= 2\ntrl[peft]>=1,<2 six", ["torch >= 2", "trl[peft]>=1,<2", "six"]),
        ("six # small\n\n# no\n", ["six"]),
        ("a==1 \\\n  --hash=sha256:0", ["a==1    --hash=sha256:0"]),
        ("a @ https://b/c.whl#sha", ["a @ https://b/c.whl#sha"]),
        ("--index-url https://b", ["--index-url https://b"]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert package_lines(text) == lines
    assert packages_of(with_packages({}, lines)) == lines


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("six", ""),
        ("/wheels/a.whl", ""),
        ("-r other.txt", "-r names files"),
        ("-rother.txt", "names files"),
        ("--constraint=c.txt", "--constraint names files"),
        ("-e .", "-e names files"),
        ("./here", "a URL or an absolute path"),
        ("..", "a URL or an absolute path"),
        ("file:./a", "a URL or an absolute path"),
        ("wheels/a-1.0-py3-none-any.whl", "a URL or an absolute path"),
        ("~/a.tar.gz", "a URL or an absolute path"),
        ("a @ ./a.whl", "a URL or an absolute path"),
        ("a @ file:///wheels/a.whl", ""),
        ("a @ /wheels/a.whl", ""),
        ("file:///wheels/a.whl", ""),
        ("https://host/a.whl", ""),
        ("https://host/a.whl ; python_version > '3'", ""),
        ("git+https://host/a.zip", ""),
        ("six\n--find-links ./wheels", "--find-links must name a URL or an absolute path"),
        ("six\n-f wheels", "-f must name a URL or an absolute path"),
        ("six\n--find-links=/wheels", ""),
        ("six\n-f https://host/wheels", ""),
        ("six\n-f ${WHEELS}", ""),
        ("${WHEELS}/a.whl", ""),
        ("zip.whlx", ""),
        ("--pre", "names no package"),
        ("a\x00b", "readable"),
        ("x" * (LONGEST + 1), "at most 100,000 characters"),
    ],
)
def test_what_no_host_can_install_is_refused(text: str, problem: str) -> None:
    errors = packages_errors(with_packages({"kind": "TrainJob"}, [text]))
    assert bool(errors) == bool(problem)
    assert problem in "".join(map(str, errors))


def test_a_task_names_them_in_its_document() -> None:
    tasks = [{"task": {"packages": ["six", "trl"]}}, {"task": {"packages": "six torch"}}, {}, 7]
    job = {"kind": "Task", "spec": {"tasks": tasks}}
    assert packages_of(with_packages(job, ["more"])) == ["six", "trl", "torch", "more"]
    assert packages_of({**job, "kind": "JobSet"}) == []


@pytest.mark.parametrize("metadata", [None, 7, {"annotations": 7}, {"annotations": {"a": "b"}}])
def test_a_job_without_packages(metadata: object) -> None:
    assert packages_of({"metadata": metadata}) == []
    assert with_packages({"metadata": metadata}, []) == {"metadata": metadata}
