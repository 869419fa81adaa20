"""Files that the compiler makes, read by the programs they are made for."""

import shutil
import subprocess

import pytest

from trainway.compiler.keys import GeneratedKeys
from trainway.compiler.plugins.flux_scripts import FluxCluster, entrypoint_script, init_script

CLUSTER = FluxCluster(("t-node-0-0", "t-node-0-1"), "t.ns.svc.cluster.local", 2, 0, "eth0", "fcfs")


def run(*argv: str, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_openssh_reads_both_halves_of_a_key() -> None:
    pair = GeneratedKeys().ssh_keypair()
    fingerprint = run("ssh-keygen", "-lf", "-", text=pair.public_key).stdout
    assert fingerprint.startswith("521 SHA256:")
    assert fingerprint.rstrip().endswith("(ECDSA)")
    derived = run("ssh-keygen", "-yf", "/dev/stdin", text=pair.private_key).stdout
    assert derived.split()[:2] == pair.public_key.split()[:2]


@pytest.mark.parametrize("script", [init_script(CLUSTER), entrypoint_script(CLUSTER)])
def test_bash_reads_the_scripts_of_flux(script: str) -> None:
    done = run("bash", "-n", text=script)
    assert (done.returncode, done.stderr) == (0, "")
