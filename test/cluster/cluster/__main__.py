"""`python -m cluster up|down|build`: the cluster of the tests for a person."""

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from cluster import apptainer, builds
from cluster.control_plane import ControlPlane
from cluster.kwok import KwokCluster
from cluster.node import NodeCluster
from cluster.operator_image import initializer_images, operator_image
from cluster.record import records
from cluster.teardown import remove
from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

SIZES: Final[Mapping[str, type[ControlPlane]]] = {
    size.size: size for size in (ControlPlane, NodeCluster, KwokCluster)
}
BUILT_OTHERWISE: Final[Mapping[str, Callable[[], Path]]] = {
    "operator-image": operator_image,
    "initializer-images": initializer_images,
    apptainer.NAME: apptainer.apptainer,
}


def main() -> int:
    """Do what the command says."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    arguments = parser().parse_args()
    try:
        status: int = arguments.action(arguments)
    except UnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return status


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m cluster", description=__doc__)
    actions = top.add_subparsers(required=True)
    start = actions.add_parser("up", help="start a cluster that stays, print its kubeconfig")
    start.add_argument("--size", choices=SIZES, default="node")
    start.set_defaults(action=up)
    stop = actions.add_parser("down", help="remove all clusters that `up` started")
    stop.set_defaults(action=down)
    make = actions.add_parser("build", help="build programs into the cache")
    about = f"api, node, kwok, programs such as kueue, {', '.join(BUILT_OTHERWISE)}"
    make.add_argument("names", nargs="+", help=about)
    make.set_defaults(action=build)
    return top


def up(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    cluster = SIZES[arguments.size](stays=True)
    cluster.start()
    log.info("up in %.1f s: export KUBECONFIG=%s", time.monotonic() - started, cluster.kubeconfig)
    log.info("kubectl is in %s", cluster.bin)
    sys.stdout.write(f"{cluster.kubeconfig}\n")
    return 0


def down(_: argparse.Namespace) -> int:
    for record in list(records()):
        if record.stays or record.is_leftover():
            log.info("removing the %s cluster in %s", record.size, record.folder)
            remove(record)
    return 0


def build(arguments: argparse.Namespace) -> int:
    programs: list[str] = []
    for name in arguments.names:
        programs += needed(SIZES[name]) if name in SIZES else [name]
    for name, made in BUILT_OTHERWISE.items():
        if name in programs:
            programs.remove(name)
            made()
    known = {name for module in builds.ALL for name in module.packages}
    for name in programs:
        if name not in known:
            raise UnavailableError(f"{name}: no such program")
    for module in builds.ALL:
        builds.build(module, [name for name in module.packages if name in programs])
    return 0


def needed(size: type[ControlPlane]) -> tuple[str, ...]:
    """What a cluster of this size is built of, unless another one is used or it cannot start."""
    if os.environ.get("TRAINWAY_TEST_CLUSTER") == "existing":
        return ()
    size.require()
    if os.environ.get("KUBEBUILDER_ASSETS"):
        size.build()
        return ()
    return size.all_programs()


if __name__ == "__main__":
    sys.exit(main())
