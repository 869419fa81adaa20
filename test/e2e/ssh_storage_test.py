"""Buckets of tasks on SSH hosts, where rclone does all the work and nobody has our credentials."""

import shutil
from pathlib import Path

import pytest
from s3_server import SECRET, S3Server, running
from ssh_pool import ON, SshPool
from storage_scenario import check_stored, stored_task

pytestmark = pytest.mark.xdist_group("ssh")


def test_two_hosts_share_buckets(ssh_pool: SshPool, tmp_path: Path) -> None:
    address = ssh_pool.hosts.need_network().address(1)
    with running(tmp_path, address) as server:
        task = stored_task(server, "two-hosts", tmp_path, "/stored/here", nodes=2)
        pool = with_variables(ssh_pool, server)
        check_stored(server, "two-hosts", pool.run("run", task, "--on", ON), nodes=2)
        assert SECRET not in pool.run("jobs", "show", "stored", "-o", "yaml")


def with_variables(pool: SshPool, server: S3Server) -> SshPool:
    """The same, for whoever has the credentials."""
    return SshPool(pool.home, {**pool.variables, **server.variables()}, hosts=pool.hosts)


def test_hosts_that_cannot_mount_are_named(ssh_pool: SshPool, tmp_path: Path) -> None:
    task = tmp_path / "task.yaml"
    task.write_text("file_mounts: {/x: {source: s3://anything}}\nrun: x\n")
    rclone = shutil.which("rclone")
    assert rclone is not None, "rclone must be installed"
    lame = ssh_pool.hosts.hosts[1]
    lame.run("mount", "--bind", "/dev/null", rclone)
    try:
        done = ssh_pool.start("run", str(task), "--on", ON)
        said, _ = done.communicate()
    finally:
        lame.run("umount", rclone)
    assert done.returncode == 1, said
    assert "file_mounts[/x]: rclone is not installed on h1; install rclone and fuse3" in said


def test_a_folder_of_the_hosts_is_mounted_by_its_name(ssh_pool: SshPool, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "text").write_text("of the hosts\n")
    named = ("-n", "corpus", "--type", "directory", "--infra", ON, "--path", str(folder))
    assert ssh_pool.run("volumes", "apply", *named) == "corpus created\n"
    task = tmp_path / "task.yaml"
    task.write_text("volumes: {/named/corpus: corpus}\nrun: cat /named/corpus/text\n")
    assert ssh_pool.run("run", str(task), "--on", ON) == "node-0 | of the hosts\n"
    here = ssh_pool.start("run", str(task))
    said, _ = here.communicate()
    assert here.returncode == 1
    assert f"volume corpus: it is on {ON}, but the job goes to local" in said
    assert ssh_pool.run("volumes", "delete", "corpus", "-y") == "corpus deleted\n"


def test_a_folder_that_one_host_lacks_is_said_before_anything_is_sent(
    ssh_pool: SshPool, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    named = ("-n", "lacking", "--type", "directory", "--infra", ON, "--path", str(folder))
    assert ssh_pool.run("volumes", "apply", *named) == "lacking created\n"
    task = tmp_path / "task.yaml"
    task.write_text("volumes: {/named/corpus: lacking}\nrun: x\n")
    lame = ssh_pool.hosts.hosts[1]
    lame.run("mount", "-t", "tmpfs", "none", str(tmp_path))
    try:
        for words, field in (
            (("run", str(task), "--on", ON), "volumes (lacking)"),
            (("volumes", "apply", *named), "config.host_path"),
        ):
            done = ssh_pool.start(*words)
            said, _ = done.communicate()
            assert done.returncode == 1, said
            assert f"{field}: {folder} does not exist on h1\n" in said
    finally:
        lame.run("umount", str(tmp_path))
        ssh_pool.run("volumes", "delete", "lacking", "-y")
