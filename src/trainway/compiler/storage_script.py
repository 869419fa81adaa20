"""What nodes execute for the buckets of a task: copies before it starts, mounts around its run.

Copies are a step of their own, which any shell carries out. Mounts are made by rclone in mounts of
the task's own, so that they end with it whatever happens. What was written is in rclone's cache
until the store has it: the task ends when the cache says so, and a restart on the same host goes on
with what is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainway.api.task.storage_mount import Mode, StorageMount
from trainway.api.task.storage_remote import remote_name

_KEY: Final = "AWS_ACCESS_KEY_ID"
_TOKENS: Final = ("AWS_SESSION_TOKEN", "AWS_TOKEN")
_FETCH: Final = """\
fetch() {
  rmdir "$3" 2>/dev/null
  echo "storage: copying $1"
  if [ -n "$AWS_ACCESS_KEY_ID" ]; then unset AWS_PROFILE; fi
  if command -v trainway >/dev/null && trainway data copy --cached "$1" "$3"; then return; fi
  if command -v rclone >/dev/null && [ -n "$2" ]; then
    if [ -n "$AWS_CA_BUNDLE" ]; then export RCLONE_CA_CERT="$AWS_CA_BUNDLE"; unset AWS_CA_BUNDLE; fi
    if RCLONE_CONFIG=/dev/null rclone copyto --contimeout 15s --low-level-retries 5 \
--retries 2 --stats-one-line --log-level NOTICE "$2" "$3"; then
      if [ -e "$3" ]; then return; fi  # of a folder that is not there rclone copies nothing
      case "$2" in
        *:*/?*) echo "storage: there is nothing at $1" >&2; exit 1 ;;
        *) mkdir -p "$3" && return ;;
      esac
    fi
    echo "storage: rclone could not copy $1" >&2
  elif [ -z "$2" ]; then
    echo "storage: only trainway copies $1, and it did not on $(uname -n); \
install it there: pip install trainway" >&2
  elif ! command -v trainway >/dev/null; then
    echo "storage: $(uname -n) has neither trainway nor rclone, which would copy $1" >&2
    echo "storage: install one of them there: pip install 'trainway[data]', or rclone" >&2
  fi
  exit 1
}
"""
_OWN_MOUNTS: Final = """\
refuse() { echo "storage: $*" >&2; exit 1; }
if [ -z "$TRAINWAY_OWN_MOUNTS" ]; then
  command -v rclone >/dev/null || \
refuse "rclone is not installed on $(uname -n); install it, or use mode: COPY"
  [ -r /dev/fuse ] && [ -w /dev/fuse ] || \
refuse "there is no FUSE on $(uname -n) (/dev/fuse); load it, or use mode: COPY"
  export TRAINWAY_OWN_MOUNTS=1 TRAINWAY_OWN_USER=
  if unshare --mount true 2>/dev/null; then
    exec unshare --mount bash -c "$BASH_EXECUTION_STRING" "$0" "$@"
  elif unshare --user --map-root-user --mount true 2>/dev/null; then
    export TRAINWAY_OWN_USER="--user --map-user=$(id -u) --map-group=$(id -g)"
    unshare $TRAINWAY_OWN_USER true 2>/dev/null || TRAINWAY_OWN_USER=
    exec unshare --user --map-root-user --mount bash -c "$BASH_EXECUTION_STRING" "$0" "$@"
  fi
fi
own_user=$TRAINWAY_OWN_USER
unset TRAINWAY_OWN_MOUNTS TRAINWAY_OWN_USER
"""
_MOUNT: Final = """\
places=() caches=() programs=() uris=()
mount_storage() {
  local uri=$1 remote=$2 place=$3 number=${#places[@]} program said
  shift 3
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/trainway/mounts
  cache+=/${SKYPILOT_TASK_ID##*_}-$SKYPILOT_NODE_RANK-$number  # the same after a restart
  mkdir -p "$place" && place=$(cd "$place" && pwd) || refuse "$place cannot be made"
  mkdir -p -m 700 "$cache" || refuse "$cache cannot be made"
  mountpoint -q "$place" && refuse "something is mounted at $place already"
  [ -z "$(ls -A "$place")" ] || refuse "$place is not empty, so that $uri cannot be mounted there"
  said=$(timeout 20 rclone lsf --max-depth 1 --log-level ERROR --retries 1 \
"${remote%%/*}" 2>&1 >/dev/null)
  case $? in 0 | 124) ;; *) refuse "$uri cannot be read: ${said##*: }" ;; esac
  setsid rclone mount "$remote" "$place" --cache-dir "$cache" --log-file "$cache/log" \
--log-level NOTICE --dir-cache-time 10s "$@" >/dev/null 2>&1 &
  program=$!
  until mountpoint -q "$place"; do
    kill -0 $program 2>/dev/null || refuse "$uri: $(tail -n 1 "$cache/log")"
    sleep 0.05
  done
  places+=("$place") caches+=("$cache") programs+=($program) uris+=("$uri")
}
flush_storage() {
  local number cache place failed=0 turn
  cd / || exit
  for number in "${!places[@]}"; do
    cache=${caches[$number]} place=${places[$number]} turn=0
    while grep -rqs '"Dirty": *true' "$cache/vfsMeta"; do
      if ! kill -0 ${programs[$number]} 2>/dev/null; then
        echo "storage: rclone ended before all was written to ${uris[$number]}" >&2
        echo "storage: what is missing is in $cache on $(uname -n)" >&2
        failed=1
        break
      fi
      [ $((turn++ % 150)) -ne 10 ] || echo "storage: waiting until all is written to \
${uris[$number]}$(tail -n 1 "$cache/log" | sed 's/^/ (/; s/$/)/')"
      sleep 0.2
    done
    [ $failed = 1 ] && continue
    fusermount3 -u "$place" 2>/dev/null || fusermount -u "$place" 2>/dev/null \
|| umount -l "$place"
    wait ${programs[$number]}
    rm -rf "$cache"
  done
  return $failed
}
if [ -n "$AWS_CA_BUNDLE" ]; then RCLONE_CA_CERT=$AWS_CA_BUNDLE; bundle=$AWS_CA_BUNDLE; fi
unset AWS_CA_BUNDLE
export RCLONE_CA_CERT RCLONE_CONFIG=/dev/null
[ -n "$RCLONE_CA_CERT" ] || unset RCLONE_CA_CERT
"""
_HIDE: Final = """\
unset RCLONE_CONFIG $(compgen -v RCLONE_CONFIG_)
if [ -n "$bundle" ]; then export AWS_CA_BUNDLE=$bundle; unset RCLONE_CA_CERT; fi
"""
_STEPS: Final = """\
as_before() {
  if [ -n "$own_user" ]; then exec unshare $own_user "$@"; fi
  exec "$@"
}
step() {
  ("$@") <&0 &
  local child=$! code
  trap : TERM INT
  wait $child
  code=$?
  while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
  return $code
}
setup_step() {
  for name in NODE_RANK NODE_IPS NUM_GPUS_PER_NODE; do
    twin=SKYPILOT_$name
    export "SKYPILOT_SETUP_$name=${!twin}" "TRAINWAY_SETUP_$name=${!twin}"
  done
  as_before bash -c "$1" setup
}
code=0
if [ -n "$1" ]; then
  step setup_step "$1"
  code=$?
  [ $code = 0 ] || echo "setup failed with exit status $code" >&2
fi
if [ $code = 0 ] && [ -n "$2" ]; then
  step as_before bash -c "$2" run
  code=$?
fi
flush_storage || { [ $code != 0 ] || code=1; }
exit $code
"""


@dataclass(frozen=True)
class Mounted:
    """A mount, and its place as the shell is told."""

    mount: StorageMount
    place: str


def quoted(text: str) -> str:
    """A word for the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def copying(pairs: Sequence[tuple[StorageMount, str]], given: Sequence[str] = ()) -> str:
    """The script that copies each to a place.

    `given` are the variables that come along. With keys among them, a token that the host has for
    others is not used.
    """
    others = [name for name in _TOKENS if _KEY in given and name not in given]
    lines = [
        f"fetch {quoted(mount.uri)} {quoted(remote(mount))} {quoted(place)}\n"
        for mount, place in pairs
    ]
    return (f"unset {' '.join(others)}\n" if others else "") + _FETCH + "".join(lines)


def mounting(mounts: Sequence[Mounted]) -> str:
    """The script up to where everything is mounted; `ending` comes after it."""
    lines = [
        " ".join(
            (
                "mount_storage",
                quoted(item.mount.uri),
                quoted(remote(item.mount)),
                item.place,
                *(quoted(word) for word in options(item.mount)),
            )
        )
        for item in mounts
    ]
    return _MOUNT + "\n".join(lines) + "\n" + _HIDE


def beginning() -> str:
    """What comes first of all, before the variables: mounts that end with the task."""
    return _OWN_MOUNTS


def ending() -> str:
    """Setup and run of a task with mounts: it ends when all is written."""
    return _STEPS


def remote(mount: StorageMount) -> str:
    """What rclone calls the place of a mount; empty: it does not know it."""
    return "" if mount.scheme == "hf" else f"{remote_name(mount.scheme)}:{mount.place}"


def options(mount: StorageMount) -> list[str]:
    """What rclone is told of a mount."""
    is_cached = mount.mode is Mode.MOUNT_CACHED
    said = {
        "vfs-cache-mode": "full" if is_cached else "writes",
        "vfs-write-back": "1s" if is_cached else "0s",
        **mount.flags,
    }
    words = [f"--{name}={value}" for name, value in said.items()]
    if is_cached:
        words.append("--vfs-fast-fingerprint")
    return [*words, *(["--read-only"] if mount.is_read_only else [])]
