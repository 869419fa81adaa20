"""What a machine must have for a cluster; what it lacks is named with its package."""

import os
import shutil
from pathlib import Path
from typing import Final

from slurm_configuration import Shape
from switch import UnavailableError

PACKAGES: Final = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "munged": "munge",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}
ACCOUNTING_PACKAGES: Final = {"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core"}
REST_PACKAGES: Final = {"slurmrestd": "slurmrestd"}
JWT_PLUGIN: Final = "auth_jwt.so"


def require_programs(shape: Shape) -> None:
    """See to it that such a cluster can be made here."""
    if os.geteuid() != 0:
        raise UnavailableError("a Slurm cluster: only root can make one")
    needed = dict(PACKAGES)
    needed |= ACCOUNTING_PACKAGES if shape.accounting == "slurmdbd" else {}
    needed |= REST_PACKAGES if shape.rest else {}
    search = f"{os.environ.get('PATH', '')}:/usr/sbin"
    missing = [name for name in needed if shutil.which(name, path=search) is None]
    packages = sorted({needed[name] for name in missing})
    if shape.rest and not list(Path("/usr/lib").glob(f"*/slurm-wlm/{JWT_PLUGIN}")):
        missing, packages = [*missing, JWT_PLUGIN], [*packages, "slurm-wlm-jwt-plugin"]
    if missing:
        verb = f"apt-get install {' '.join(packages)}"
        raise UnavailableError(f"{', '.join(missing)}: not found; {verb}")
    if shape.memory_limits and not Path("/sys/fs/cgroup/memory").is_dir():
        raise UnavailableError("memory limits: no cgroup v1 hierarchy for memory")


def require_pmix() -> None:
    """See to it that `srun --mpi=pmix` works."""
    if not list(Path("/usr/lib").glob("*/pmix2/lib/libpmix.so")):
        raise UnavailableError("libpmix.so: not found; apt-get install libpmix-dev")
