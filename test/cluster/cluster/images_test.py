import io
import json
import tarfile
from pathlib import Path

import pytest

from cluster import images
from cluster.unavailable import UnavailableError


def read(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


def test_an_archive_names_its_image_and_what_it_runs(tmp_path: Path) -> None:
    layer = images.Layer(texts={"etc/motd": "hello"}).write()
    images.write_archive("docker.io/a/b:1", layer, ["/bin/sh"], tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        manifest = json.loads(read(archive, "manifest.json"))
        assert manifest[0]["RepoTags"] == ["docker.io/a/b:1"]
        assert json.loads(read(archive, manifest[0]["Config"]))["config"]["Cmd"] == ["/bin/sh"]
        assert read(archive, manifest[0]["Layers"][0]) == layer


def test_hostroot_is_a_frame_for_the_programs_of_this_machine() -> None:
    with tarfile.open(fileobj=io.BytesIO(images.hostroot_layer().write())) as layer:
        assert layer.getmember("bin").linkname == "usr/bin"
        assert layer.getmember("tmp").mode == 0o1777
        assert b"HostKey /root/.ssh/id_rsa" in read(layer, "etc/ssh/sshd_config")
        assert b"HostKey /home/mpiuser/.ssh/id_rsa" in read(layer, "home/mpiuser/.sshd_config")


def test_without_busybox_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="busybox-static"):
        images.busybox_layer()
