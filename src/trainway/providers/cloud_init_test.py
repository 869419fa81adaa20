"""What a new machine is told."""

import json
import subprocess
from pathlib import Path

import pytest

from trainway.providers.cloud_init import guard, user_data


def test_a_key_is_let_in_whatever_it_contains() -> None:
    first, _, rest = user_data('ssh-ed25519 AAAA "it\'s me"\n').partition("\n")

    assert first == "#cloud-config"
    assert json.loads(rest) == {"ssh_authorized_keys": ['ssh-ed25519 AAAA "it\'s me"']}


def test_a_machine_may_be_given_its_host_key() -> None:
    told = json.loads(user_data("key", host_key="-----BEGIN\n").partition("\n")[2])
    assert told["ssh_keys"] == {"ed25519_private": "-----BEGIN\n"}


def test_a_machine_may_be_told_to_go() -> None:
    told = json.loads(user_data("key", may_shut_down=True).partition("\n")[2])

    assert told["ssh_authorized_keys"] == ["key"]
    assert told["runcmd"] == [["sh", "-c", f"({guard()}) >/dev/null 2>&1 &"]]


@pytest.mark.parametrize("has_agent", [True, False])
def test_a_machine_to_which_nobody_came_shuts_down(tmp_path: Path, has_agent: bool) -> None:
    home, programs = tmp_path / "home", tmp_path / "bin"
    (home / ".trainway" if has_agent else home).mkdir(parents=True)
    programs.mkdir()
    for name, line in {
        "getent": f"echo root:x:0:0::{tmp_path}/root:/bin/sh; echo me:x:1:1::{home}:/bin/sh",
        "shutdown": f"echo $* >{tmp_path}/called",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    environ = {"PATH": f"{programs}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-c", f"({guard(0)})"], env=environ, check=True)

    assert (tmp_path / "called").exists() is not has_agent
