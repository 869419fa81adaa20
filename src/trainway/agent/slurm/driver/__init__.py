"""In an allocation: the batch script of a job, which starts its pods as tasks of steps.

drive           the program; `driver` is one attempt of the job, `driver_state` what it can be, and
                `shutdown` how it ends
step_pods       the pods as the job's controllers see them; `step` is one call of srun
step_pod        the program that is one task of a step, and so one pod
rsh             how an MPI launcher reaches another pod of the job
"""
