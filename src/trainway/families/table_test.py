from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from trainway.families.builtin import BUILTIN
from trainway.families.family import Carried, Family, Files, Runs
from trainway.families.table import (
    CLASSES,
    ROWS,
    BackendError,
    family_of,
    installed_names,
    installed_rows,
    with_section,
)

MOON = Family("moon", "moon_backend:Moon", runs=Runs.PROCESSES, sections={"moon": "moon_settings"})
OTHER = Family("sun", "sun_backend:Sun")

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Have entry points, as an installed package would."""

    def entries(*points: EntryPoint) -> None:
        def found(group: str) -> list[EntryPoint]:
            return [point for point in points if point.group == group]

        monkeypatch.setattr("importlib.metadata.entry_points", found)

    return entries


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (None, "local"),
        ("", "local"),
        ("local", "local"),
        ("k8s", "k8s"),
        ("k8s/a/b", "k8s"),
        ("/slurm/hpc", "slurm"),
        ("k8s-like", "k8s-like"),
    ],
)
def test_a_place_belongs_to_the_family_that_it_begins_with(place: str | None, name: str) -> None:
    assert family_of(place).name == name


def test_of_a_family_that_nobody_knows_nothing_is_said() -> None:
    row = family_of("ibm/us-east")
    assert row == Family("ibm", backend="")
    assert (row.carries, row.files, row.runs) == (frozenset(), Files.IN_OBJECTS, Runs.PODS)


def test_another_package_brings_a_row(install: Install) -> None:
    install(EntryPoint("moon", f"{__name__}:MOON", ROWS))
    assert family_of("moon/crater") is MOON
    assert installed_names() == ["moon"]


def test_a_class_without_a_row_makes_a_family_of_which_nothing_is_said(install: Install) -> None:
    install(EntryPoint("moon", "moon_backend:Moon", CLASSES))
    assert family_of("moon/crater") == Family("moon", "moon_backend:Moon")


def test_ours_are_found_without_looking_at_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("importlib.metadata.entry_points")
    assert [family_of(f"{name}/x").name for name in BUILTIN] == list(BUILTIN)
    expected = [BUILTIN[name] for name in ("k8s", "ssh", "slurm")]
    assert with_section(["pools", "clusters"]) == expected


def test_a_package_that_comes_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert family_of("moon/crater") == Family("moon", backend="")
    info = tmp_path / "moon_backend-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moon-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{CLASSES}]\nmoon = moon_backend:Moon\n")
    assert family_of("moon/crater") == Family("moon", "moon_backend:Moon")


def test_packages_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def found(group: str) -> list[EntryPoint]:
        looks.append(group)
        return []

    monkeypatch.setattr("importlib.metadata.entry_points", found)
    for _ in range(3):
        assert family_of("moon/crater").backend == ""
    assert sorted(looks) == [CLASSES, ROWS]


def test_no_package_replaces_one_of_ours(install: Install) -> None:
    install(EntryPoint("local", f"{__name__}:MOON", ROWS))
    assert family_of("local") is BUILTIN["local"]
    assert installed_names() == []


@pytest.mark.parametrize("value", ["no.such.module:MOON", f"{__name__}:NOTHING", "os:sep"])
def test_a_row_that_cannot_be_used_says_so(install: Install, value: str) -> None:
    install(EntryPoint("moon", value, ROWS))
    with pytest.raises(BackendError, match="the backend 'moon' cannot be loaded"):
        family_of("moon/crater")


def test_a_row_has_the_name_of_its_entry(install: Install) -> None:
    install(EntryPoint("moon", f"{__name__}:OTHER", ROWS))
    with pytest.raises(BackendError, match="OTHER is not a Family of that name"):
        family_of("moon")


def test_sections_of_others_are_looked_for_where_there_are_such(install: Install) -> None:
    install(
        EntryPoint("moon", f"{__name__}:MOON", ROWS),
        EntryPoint("sun", "no.such.module:SUN", ROWS),
    )
    assert with_section(["pools", "moon"])[-1] is MOON
    assert installed_rows() == [MOON]


def test_the_environment_goes_only_where_a_job_runs_as_if_started_by_hand() -> None:
    inherits = {row.name for row in BUILTIN.values() if Carried.ENVIRONMENT in row.carries}
    assert inherits == {"local", "cluster", "worker-pool"}


@pytest.mark.parametrize("place", ["aws/us-east-1/us-east-1a", "cloud", "runpod"])
def test_machines_of_clouds_are_rented_and_stand_beside_what_everybody_has(place: str) -> None:
    row = family_of(place)
    assert row.rents
    assert row.name == place.split("/", maxsplit=1)[0]
    assert row.name not in BUILTIN
