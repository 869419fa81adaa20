"""Buckets that a task mounts in pods of Kubernetes: a container beside the task does it.

Only a privileged container may mount, and the task should not be one. So rclone runs in a sidecar,
which starts before the task and ends after it, and its mounts are seen in both. What was written is
in rclone's cache until the store has it. The sidecar looks at the cache again and again, and writes
down what it saw when; the task ends when that is nothing, and was seen after all it has written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainway.api.task.storage_mount import StorageMount
from trainway.compiler import storage_script
from trainway.compiler.storage_script import quoted
from trainway.compiler.task_files import Pair
from trainway.jobset.literal_text import literal
from trainway.json_types import Json

CONTAINER: Final = "storage-mounts"
"""The sidecar, and the volume that has the mounts."""
_CACHE: Final = "storage-cache"
ROOT: Final = "/opt/trainway/mounts"
_CACHE_PLACE: Final = "/opt/trainway/mount-cache"
_READY: Final = f"{_CACHE_PLACE}/ready"
_SEEN: Final = f"{_CACHE_PLACE}/seen"
"""When the cache was looked at, and how it was; any user may read it."""
_START_S: Final = 120
_CHECK: Final = """\
check() {
  said=$(RCLONE_CONFIG=/dev/null timeout 30 rclone lsf --max-depth 1 --log-level ERROR --retries 1 \
"$2" 2>&1 >/dev/null) || {
    echo "storage: $1 cannot be read: ${said##*: }" >&2
    exit 1
  }
}
"""
_SERVE: Final = f"""\
export RCLONE_CONFIG=/dev/null
if [ -n "$AWS_CA_BUNDLE" ]; then export RCLONE_CA_CERT="$AWS_CA_BUNDLE"; unset AWS_CA_BUNDLE; fi
ended= programs= places=
trap 'ended=1' TERM INT
rm -f {_READY} {_SEEN}
if [ ! -c /dev/fuse ]; then
  echo "storage: there is no FUSE on this node (/dev/fuse); load it, or use mode: COPY" >&2
  exit 1
fi
serve() {{
  uri=$1 remote=$2 place={ROOT}/$3 cache={_CACHE_PLACE}/$3
  shift 3
  umount -l "$place" 2>/dev/null  # of one that was killed
  mkdir -p "$place" "$cache" || exit 1
  rclone mount "$remote" "$place" --allow-other --umask 000 --cache-dir "$cache" \
--log-level NOTICE --dir-cache-time 10s "$@" &
  program=$!
  until grep -q " $place " /proc/mounts; do
    kill -0 $program 2>/dev/null || {{ echo "storage: $uri cannot be mounted" >&2; exit 1; }}
    sleep 0.1
  done
  programs="$programs $program" places="$places $place"
}}
"""
_STAY: Final = f"""\
touch {_READY}
while [ -z "$ended" ]; do
  for program in $programs; do
    kill -0 $program 2>/dev/null || {{ echo "storage: rclone has ended" >&2; exit 1; }}
  done
  time=$(date +%s) state=clean
  if grep -rqs '"Dirty": *true' {_CACHE_PLACE}/*/vfsMeta; then state=dirty; fi
  echo "$time $state" > {_SEEN}.new && mv {_SEEN}.new {_SEEN}
  sleep 0.3
done
while grep -rqs '"Dirty": *true' {_CACHE_PLACE}/*/vfsMeta; do sleep 0.2; done
for place in $places; do umount -l "$place"; done
kill -9 $programs  # nothing is left to write, and binds of the kubelet would keep them
"""
_FLUSH: Final = f"""\
own_user=
flush_storage() {{
  local turn=0 ended time state
  ended=$(date +%s)
  until {{ read -r time state < {_SEEN}; }} 2>/dev/null && \
[ "$time" -gt "$ended" ] && [ "$state" = clean ]; do
    [ $((turn++ % 150)) -ne 20 ] || echo "storage: waiting until all is written"
    sleep 0.2
  done
}}
"""


@dataclass(frozen=True)
class PodMounts:
    """The mounts of one task, in the order of its file."""

    mounts: Sequence[StorageMount]

    def pairs(self) -> list[Pair]:
        """The volumes, and where the task sees them."""
        if not self.mounts:
            return []
        cache = {"name": _CACHE, "mountPath": _CACHE_PLACE, "readOnly": True}
        return [({"name": _CACHE, "emptyDir": {}}, cache), *self._places()]

    def _places(self) -> list[Pair]:
        volume: Json = {"name": CONTAINER, "emptyDir": {}}
        return [
            (volume, {"name": CONTAINER, "mountPath": place, "subPath": str(number)})
            for number, place in enumerate(self._seen_at())
        ]

    def _seen_at(self) -> list[str]:
        """Where each is mounted in the task; where nobody knows the home, a link leads there."""
        return [
            mount.path if mount.path.startswith("/") else f"{ROOT}/{number}"
            for number, mount in enumerate(self.mounts)
        ]

    def links(self) -> list[tuple[str, str]]:
        """Mounts that have their paths only by a link."""
        pairs = zip(self._seen_at(), self.mounts, strict=True)
        return [(place, mount.path) for place, mount in pairs if place != mount.path]

    def checks(self) -> str:
        """The script that says which bucket cannot be read, before anything starts."""
        if not self.mounts:
            return ""
        lines = [
            f"check {quoted(mount.uri)} {quoted(_bucket(storage_script.remote(mount)))}\n"
            for mount in self.mounts
        ]
        return _CHECK + "".join(lines)

    def sidecar(self, image: str, env: Sequence[Json]) -> Json:
        """The container that mounts; it is ready when all is mounted."""
        lines = [
            " ".join(
                quoted(word)
                for word in (
                    *(mount.uri, storage_script.remote(mount), str(number)),
                    *storage_script.options(mount),
                )
            )
            for number, mount in enumerate(self.mounts)
        ]
        script = _SERVE + "".join(f"serve {line}\n" for line in lines) + _STAY
        mounts = [
            {"name": CONTAINER, "mountPath": ROOT, "mountPropagation": "Bidirectional"},
            {"name": _CACHE, "mountPath": _CACHE_PLACE},
        ]
        return {
            "name": CONTAINER,
            "image": image,
            "restartPolicy": "Always",
            "securityContext": {"privileged": True, "runAsUser": 0, "runAsNonRoot": False},
            "command": ["sh", "-c", literal(script)],
            "env": list(env),
            "volumeMounts": mounts,
            "startupProbe": {
                "exec": {"command": ["test", "-e", _READY]},
                "periodSeconds": 1,
                "failureThreshold": _START_S,
            },
        }


def flushing() -> str:
    """What the script of the task has in place of mounts of its own."""
    return _FLUSH


def _bucket(remote: str) -> str:
    """The bucket itself: a folder of it need not be there yet."""
    return remote.partition("/")[0]
