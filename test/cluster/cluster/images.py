"""The images of the node: made here, since no registry can be reached.

`pause` holds a pod's namespaces, `busybox` is a small system, and `hostroot` is a frame of links
into which a pod mounts this machine's `/usr`, so that its Python, sshd and mpirun run in pods.
`mpi` has what the workers of an MPIJob start, which only waits there: for tests of when pods run.
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cluster.unavailable import UnavailableError

PAUSE: Final = "docker.io/trainway/pause:1"
BUSYBOX: Final = "docker.io/trainway/busybox:1"
HOSTROOT: Final = "docker.io/trainway/hostroot:1"
MPI: Final = "docker.io/trainway/mpi:1"

LOADER: Final = b"/ld-"  # a program that is not static names its loader near its start
SEARCH_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ACCOUNTS: Final = """\
root:x:0:0:root:/root:/bin/sh
sshd:x:100:65534::/run/sshd:/usr/sbin/nologin
mpiuser:x:1000:1000::/home/mpiuser:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
GROUPS: Final = "root:x:0:\nmpiuser:x:1000:\nnogroup:x:65534:\n"
NAME_SERVICES: Final = "passwd: files\ngroup: files\nhosts: files dns\n"
# The key pair of the job is the host key too, as in the images that MPI jobs usually have.
SSH_SERVER: Final = """\
Port 2222
HostKey {home}/.ssh/id_rsa
PidFile /tmp/sshd.pid
StrictModes no
PermitRootLogin yes
UsePAM no
"""
SSH_CLIENT: Final = """\
Host *
  Port 2222
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""
SSH_SERVER_THAT_WAITS: Final = """\
#!/bin/sh
trap 'exit 0' TERM INT
sleep 1000000 &
wait
"""
# What programs in /usr look up in /etc: links to chosen alternatives, libraries, MPI's settings.
HOST_SETTINGS: Final = ("etc/alternatives", "etc/ld.so.cache", "etc/openmpi")


@dataclass
class Layer:
    """The files of an image."""

    folders: dict[str, int] = field(default_factory=dict)  # path -> mode
    links: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    copies: list[Path] = field(default_factory=list)  # of this machine, at the same place
    programs: dict[str, Path] = field(default_factory=dict)

    def write(self) -> bytes:
        """The layer as a tar file."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path, mode in self.folders.items():
                add(archive, path, tarfile.DIRTYPE, mode=mode)
            for path, target in self.links.items():
                add(archive, path, tarfile.SYMTYPE, target=target)
            for path, text in self.texts.items():
                add(archive, path, tarfile.REGTYPE, mode=0o644, content=text.encode())
            for path, script in self.scripts.items():
                add(archive, path, tarfile.REGTYPE, mode=0o755, content=script.encode())
            for path, program in self.programs.items():
                add(archive, path, tarfile.REGTYPE, mode=0o755, content=program.read_bytes())
            for copy in self.copies:
                archive.add(copy, str(copy).lstrip("/"))
        return buffer.getvalue()


def add(
    archive: tarfile.TarFile,
    path: str,
    kind: bytes,
    *,
    mode: int = 0o777,
    target: str = "",
    content: bytes = b"",
) -> None:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, target, len(content)
    archive.addfile(entry, io.BytesIO(content))


FOLDERS: Final = {
    "dev": 0o755,
    "etc": 0o755,
    "home": 0o755,
    "home/mpiuser": 0o755,
    "proc": 0o555,
    "root": 0o755,  # pods of other users mount Python below it
    "run": 0o755,
    "run/sshd": 0o755,
    "sys": 0o555,
    "tmp": 0o1777,
    "usr": 0o755,
    "var": 0o755,
    "var/empty": 0o755,
}
ETC: Final = {
    "etc/passwd": ACCOUNTS,
    "etc/group": GROUPS,
    "etc/nsswitch.conf": NAME_SERVICES,
}


def busybox_program() -> str:
    """Debian's static busybox."""
    program = shutil.which("busybox")
    if program is None or LOADER in Path(program).read_bytes()[:4096]:
        raise UnavailableError("a static busybox: not found; apt-get install busybox-static")
    return program


def busybox_layer() -> Layer:
    """busybox under all its names."""
    program = busybox_program()
    listing = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    names = [name for name in listing.stdout.split() if name != "busybox"]
    return Layer(
        folders={**FOLDERS, "bin": 0o755},
        links={f"bin/{name}": "busybox" for name in names},
        texts=dict(ETC),
        programs={"bin/busybox": Path(program)},
    )


def mpi_layer() -> Layer:
    """busybox, and an sshd that nobody can log in to."""
    layer = busybox_layer()
    layer.folders["usr/sbin"] = 0o755
    layer.scripts["usr/sbin/sshd"] = SSH_SERVER_THAT_WAITS
    return layer


def hostroot_layer() -> Layer:
    """A root whose programs are this machine's, once `/usr` is mounted."""
    settings = [Path("/", name) for name in HOST_SETTINGS]
    return Layer(
        folders={**FOLDERS, "etc/ssh": 0o755},
        links={name: f"usr/{name}" for name in ("bin", "sbin", "lib", "lib64")},
        texts={
            **ETC,
            "etc/ssh/ssh_config": SSH_CLIENT,
            "etc/ssh/sshd_config": SSH_SERVER.format(home="/root"),
            "home/mpiuser/.sshd_config": SSH_SERVER.format(home="/home/mpiuser"),
        },
        copies=[path for path in settings if path.exists()],
    )


def write_archive(name: str, layer: bytes, command: Sequence[str], target: Path) -> None:
    """An image as `docker save` writes it."""
    digest = hashlib.sha256(layer).hexdigest()
    configuration = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Cmd": list(command), "Env": [f"PATH={SEARCH_PATH}"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": "1970-01-01T00:00:00Z"}],
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files: Mapping[str, bytes] = {
        "layer.tar": layer,
        "config.json": json.dumps(configuration).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    with tarfile.open(target, "w") as archive:
        for path, content in files.items():
            add(archive, path, tarfile.REGTYPE, mode=0o644, content=content)


def write_images(folder: Path) -> list[Path]:
    """The archives of all images."""
    folder.mkdir()
    small = busybox_layer().write()
    images = {
        PAUSE: (small, ["/bin/busybox", "tail", "-f", "/dev/null"]),
        BUSYBOX: (small, ["/bin/sh"]),
        HOSTROOT: (hostroot_layer().write(), ["/bin/sh"]),
        MPI: (mpi_layer().write(), ["/bin/sh"]),
    }
    archives = []
    for number, (name, (layer, command)) in enumerate(images.items()):
        archives.append(folder / f"{number}.tar")
        write_archive(name, layer, command, archives[-1])
    return archives
