from trainway.agent.host.step_environment import step_environment


def test_srun_is_told_of_the_allocation_and_nothing_else() -> None:
    environ = {
        "PATH": "/bin",
        "SLURM_CONF": "/etc/slurm.conf",
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_ID_HET_GROUP_1": "8",
        "SLURM_JOB_NODELIST": "a",
        "SLURM_ARRAY_TASK_ID": "3",
        "SLURM_NTASKS": "4",
        "SLURM_MEM_PER_CPU": "100",
        "SLURM_CPUS_PER_TASK": "2",
        "SLURM_CPU_BIND": "cores",
        "PMIX_RANK": "0",
    }
    kept = step_environment(environ)
    assert set(environ) - set(kept) == {
        "SLURM_NTASKS",
        "SLURM_MEM_PER_CPU",
        "SLURM_CPUS_PER_TASK",
        "SLURM_CPU_BIND",
        "PMIX_RANK",
    }
