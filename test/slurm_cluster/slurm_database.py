"""slurmdbd on a MariaDB of the cluster's own.

The database has no users and no network: whoever reaches its socket may do anything. slurmdbd makes
its tables itself; of MariaDB's own it only needs the one that keeps stored procedures.
"""

import re
import subprocess
from pathlib import Path
from typing import Final

from machine import SEARCH_PATH
from patience import until
from slurm_configuration import Place, slurmdbd_conf
from slurm_machine import DaemonMachine
from slurm_ports import answers
from switch import UnavailableError

SYSTEM_TABLES: Final = Path("/usr/share/mysql/mysql_system_tables.sql")
PROCEDURES: Final = re.compile(r"^CREATE TABLE IF NOT EXISTS proc .*?;$", re.MULTILINE | re.DOTALL)
SMALL: Final = (
    "--innodb-log-file-size=4M",
    "--innodb-buffer-pool-size=16M",
    "--innodb-data-file-path=ibdata1:4M:autoextend",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-lock-wait-timeout=900",
)


def start_database(controller: DaemonMachine, place: Place) -> None:
    """Start both, and wait until slurmdbd listens."""
    data = place.folder / "mariadb"
    data.mkdir()
    server = ["mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", *SMALL]
    server += ["--skip-grant-tables", "--skip-networking"]
    create_system_tables(server)
    door = place.folder / "mariadb.socket"
    controller.start(*server, f"--socket={door}")
    until(door.exists, "mariadbd does not start", said=lambda: controller.said("mariadbd"))
    conf = place.folder / "slurmdbd.conf"
    conf.touch(mode=0o600)
    conf.write_text(slurmdbd_conf(place))
    env = {"SLURM_CONF": str(place.folder / "slurm.conf"), "MYSQL_UNIX_PORT": str(door)}
    controller.start("slurmdbd", "-D", env=env)
    until(
        lambda: answers(place.database_port),
        "slurmdbd does not start",
        said=lambda: controller.said("slurmdbd"),
    )


def create_system_tables(server: list[str]) -> None:
    """The one table of them that is needed."""
    tables = PROCEDURES.search(SYSTEM_TABLES.read_text())
    if tables is None:
        raise UnavailableError(f"{SYSTEM_TABLES}: no table of procedures")
    done = subprocess.run(
        [*server, "--bootstrap"],
        input=f"create database mysql;\nuse mysql;\n{tables[0]}\n",  # one statement a line
        env={"PATH": SEARCH_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
