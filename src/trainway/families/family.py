"""One row of the table: a family of backends, such as `slurm`, whose places are `slurm/CLUSTER`.

A row says what must be known of an infrastructure without loading its backend. Where it says
nothing, nothing of whoever submits a job travels there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Runs(StrEnum):
    """What the containers of a job become."""

    PROCESSES = "processes"
    PODS = "pods"
    """Each starts from an image, and logs are all that is seen of it."""


class Files(StrEnum):
    """How files of whoever submits get to a job."""

    HERE = "here"
    """The job runs on the submitter's machine and reads them where they are."""
    IN_OBJECTS = "in-objects"
    """They are the content of a ConfigMap that is submitted with the job."""
    STREAMED = "streamed"
    """Large ones go to the server ahead of the job, which gets them piece by piece."""


class Carried(StrEnum):
    """What of the submitter, besides files, a submission carries."""

    ENVIRONMENT = "environment"
    """The variables of the shell."""
    DIRECTORY = "directory"
    """The path of the current directory."""
    KUBECONFIG = "kubeconfig"
    """The paths of the kubeconfig files."""
    SSH_AGENT = "ssh-agent"
    """The server may use the ssh-agent of the shell."""


class Clusters(StrEnum):
    """Whether `trainway launch` can hold nodes there."""

    NONE = "none"
    STOPPABLE = "stoppable"
    """A cluster can let go of its nodes and get nodes again."""
    UNSTOPPABLE = "unstoppable"
    """Its hosts belong to others, who do not switch them off for us."""


@dataclass(frozen=True)
class Places:
    """Where the places of a family are named, as far as files of the submitter's machine tell."""

    section: str = ""
    """A section of config.yaml whose keys are the names."""
    ssh_config: str = ""
    """A file in the user's home directory, written as that of ssh, whose hosts are the names."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Programs, and for each the name of the place that this machine is where it is installed."""
    in_kubeconfig: bool = False
    """Whether the contexts of the kubeconfig are names."""


@dataclass(frozen=True)
class Family:
    """A family of backends."""

    name: str
    """What a place begins with: `slurm` of `slurm/hpc`."""
    backend: str
    """The class of its backends, as `module:Class`; it is imported when a backend is made."""
    runs: Runs = Runs.PODS
    files: Files = Files.IN_OBJECTS
    carries: frozenset[Carried] = frozenset()
    places: Places | None = field(default_factory=Places)
    """The places of the family; None if there is only one, whose name is that of the family."""
    clusters: Clusters = Clusters.NONE
    rents: bool = False
    """Whether its machines are rented for a cluster, and given back after it."""
    options: str = ""
    """The name under which a job or cluster may carry options for the family's own submit
    command."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """Its sections of config.yaml, and the module of each, which has `SHAPE` and `errors`."""
    jobs_folder: str = ""
    """The folder below the home directory in which jobs may be found that the store has lost; empty
    if there is none."""
    plan_part: str = ""
    """The part of an agent's plan that tells its plans from those of others."""

    @property
    def travels(self) -> bool:
        """Whether its jobs run where the submitter's files are not."""
        return self.files is not Files.HERE
