"""Whether the folders that volumes stand for are where jobs find them.

It is asked when a volume is named, and again before a job that uses it is sent: a job that waits
for hours must not end for a name with a typing error.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from trainway.backends import capabilities
from trainway.backends.base import Backend, Request
from trainway.backends.folders import Folder, LooksAtFolders
from trainway.backends.registry import Registry
from trainway.compiler.named_volumes import NamedVolume, directories
from trainway.errors import InvalidError, UnavailableError
from trainway.json_types import Json

_HINT: Final = "make the folder there, or name another one with trainway volumes apply"
_HINT_NEW: Final = (
    "make the folder there, or name another one; one that is only read has access_mode ReadOnlyMany"
)


async def check_volume(named: NamedVolume, registry: Registry) -> None:
    """Refuse a folder that its place does not have; a place that does not answer is no reason."""
    if named.is_in_pods:
        return
    backend = registry.get(named.place)
    for place in [named.place] if "/" in named.place else capabilities.places(backend):
        wrong = await _lacking([_folder(named)], registry.get(place))
        if wrong:
            raise InvalidError([f"config.host_path: {line}" for line in wrong], hint=_HINT_NEW)


async def rehearse(backend: Backend, request: Request, objects: Iterable[Json]) -> None:
    """Ask whether a request would be taken, and whether the volumes of its job are there."""
    await capabilities.rehearse(backend, request)
    named = [each for obj in objects for each in directories(obj)]
    wrong = await _lacking([_folder(each) for each in named], backend) if named else []
    if wrong:
        names = ", ".join(dict.fromkeys(each.name for each in named))
        raise InvalidError([f"volumes ({names}): {line}" for line in wrong], hint=_HINT)


async def _lacking(folders: Sequence[Folder], backend: Backend) -> list[str]:
    if not isinstance(backend, LooksAtFolders):
        return []
    try:
        return await backend.lacking(folders)
    except UnavailableError:
        return []


def _folder(named: NamedVolume) -> Folder:
    return Folder(named.host_path, is_written=named.access_mode.startswith("ReadWrite"))
