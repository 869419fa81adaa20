"""The client of a program: run something, get a Job."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.address import Address
from trainway.sdk.cluster_access import ClusterAccess
from trainway.sdk.cost_access import CostAccess
from trainway.sdk.job import Job
from trainway.sdk.pipeline_placement import at_own_places, tasks_placed
from trainway.sdk.pipelines import submitted
from trainway.sdk.placement import placed
from trainway.sdk.queue_access import QueueAccess
from trainway.sdk.recovery_strategy import recovery_option
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.run_options import Amount, RunOptions
from trainway.sdk.run_target import Target, objects_of, places_of_tasks
from trainway.sdk.since import since_text
from trainway.sdk.slurm_options import Value, with_options
from trainway.sdk.submitter import job_options
from trainway.sdk.targets import SCRIPT

if TYPE_CHECKING:
    from trainway.sdk.run import Run
    from trainway.sdk.run_rest import RunRest
    from trainway.sdk.schedules import Schedule
    from trainway.sdk.task_places import TaskPlaces


class Client(ClusterAccess, CostAccess, QueueAccess):
    """Speaks to a server: the embedded one, which it starts when none runs, or the one named.

    `server` is `http://host:port` or `unix:/path`; without it TRAINWAY_SERVER counts.
    """

    def __init__(self, server: str | None = None, *, token: str = "") -> None:
        self._rest = Rest.connect(server, token, _warn)

    @property
    def address(self) -> Address:
        """The server spoken to."""
        return self._rest.address

    @overload
    def run(
        self,
        target: Target,
        *,
        grid: Mapping[str, Sequence[Any]],
        sweep: str | Path | None = None,
        parallel: int | None = None,
        **options: Any,
    ) -> "Run": ...

    @overload
    def run(
        self,
        target: Target,
        *,
        sweep: str | Path,
        grid: None = None,
        parallel: int | None = None,
        **options: Any,
    ) -> "Run": ...

    @overload
    def run(
        self,
        target: Target,
        *,
        grid: None = None,
        sweep: None = None,
        parallel: None = None,
        **options: Any,
    ) -> Job: ...

    def run(  # type: ignore[misc] # `options` are these  # noqa: PLR0913 - all may be wanted
        self,
        target: Target,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        nodes: int | str | None = None,
        procs_per_node: int | None = None,
        gpus: Amount | None = None,
        cpus: Amount | None = None,
        memory: Amount | None = None,
        memory_limit: Amount | None = None,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        packages: Sequence[str] = (),
        requirements: Sequence[str | Path] | str | Path = (),
        checkpoint: str | None = None,
        name: str | None = None,
        runtime: str | None = None,
        priority: int = 0,
        restarts: int = 0,
        recover_on_exit_codes: Sequence[int] = (),
        on: str | None = None,
        prefer: str | None = None,
        max_wait: float | None = None,
        recovery_strategy: str | None = None,
        deadline: datetime | None = None,
        work: float | None = None,
        max_cost: float | None = None,
        max_cost_each: float | None = None,
        use_spot: bool = False,
        oversubscribe: bool = False,
        image: str | None = None,
        containers: bool = False,
        slurm: Mapping[str, Value] | None = None,
        pack: bool = False,
        allow_pickle: bool = False,
        timeout: float | None = None,
        notify: Sequence[str] = (),
        hang_timeout: float | None = None,
        health_check: bool | str = False,
        export: str | None = None,
        queue: str | None = None,
        labels: Mapping[str, str] | None = None,
        metrics_from_logs: str | bool = False,
        grid: Mapping[str, Sequence[Any]] | None = None,
        sweep: str | Path | None = None,
        parallel: int | None = None,
    ) -> "Job | Run":
        """Submit a function, a script, a manifest or objects, and give the job.

        A function is called in every process with `args` and `kwargs`; a script gets `args`.
        `nodes="2:8"` makes a torch job elastic. Amounts are for each node, as in Kubernetes:
        `cpus=0.5`, `memory="4Gi"`. A node that uses more memory is killed, where possible, unless
        `memory_limit` allows more. `packages`, and those of files `requirements`, are in an
        environment that hosts make before the job starts. With `image` it runs in containers of it;
        with `containers` in its own. `on` names another place, such as `k8s/CONTEXT` or `ssh/POOL`:
        a function or script travels there with the modules beside it, and what a function returns
        comes back. `any`, or several places with commas, leaves the choice to the server.
        Without `on` a task runs at the places that it names itself, and all else here. `prefer` is
        `"cost"` or `"order"`; a job that has waited there for more than `max_wait` seconds goes
        to the next place. `recovery_strategy` says what follows when its place is lost:
        `"failover"`, `"eager-next"` or `"none"`. With a `deadline` and `work`, the seconds that it
        computes, it is at the last place when it is behind. Its output is mirrored to the folder
        `checkpoint` of a bucket, and begins from there; when it has succeeded, its output goes to
        `export`. `slurm` has options of sbatch: `slurm={"qos": "high", "exclusive": True}`. With
        `pack` its nodes may share SSH hosts or Slurm nodes. With `allow_pickle` the function may
        return what is not plain data; see `Job.result`. `secrets` are variables as `env` is, whose
        values nobody is shown. A job that runs for more than `timeout` seconds fails. `notify`
        names targets of `config.yaml`, or has URLs, that are told how it goes. By
        `labels={"team": "nlp"}` `jobs` finds it. With `metrics_from_logs`, True or a regular
        expression, what rank 0 prints becomes metrics. A node that is silent for `hang_timeout`
        seconds is ended after its stacks were taken. After `recover_on_exit_codes` the job restarts
        without counting. With `health_check`, True or "torch", its nodes are checked first. What
        has cost `max_cost` dollars ends, of several jobs all together, and each of them when it has
        cost `max_cost_each`. On a cloud `use_spot` rents spot machines.

        With `grid`, the values of each parameter, or `sweep`, a sweep file, it submits one job for
        each trial, at most `parallel` of them at a time, and gives the Run. A function gets the
        parameters as keyword arguments, a script as options: `grid={"lr": [0.1, 0.01]}`.
        A file with a pipeline, of several tasks, gives a Run as well.
        """
        options = RunOptions(
            args=args,
            kwargs=kwargs,
            nodes=nodes,
            procs_per_node=procs_per_node,
            gpus=gpus,
            cpus=cpus,
            memory=memory,
            memory_limit=memory_limit,
            env=env,
            secrets=secrets,
            packages=packages,
            requirements=requirements,
            checkpoint=checkpoint,
            name=name,
            runtime=runtime,
            priority=priority,
            restarts=restarts,
            recover_on_exit_codes=recover_on_exit_codes,
            on=on,
            prefer=prefer,
            max_wait=max_wait,
            recovery_strategy=recovery_strategy,
            deadline=deadline,
            work=work,
            max_cost=max_cost,
            max_cost_each=max_cost_each,
            use_spot=use_spot,
            oversubscribe=oversubscribe,
            image=image,
            containers=containers,
            slurm=slurm,
            pack=pack,
            allow_pickle=allow_pickle,
            timeout=timeout,
            notify=notify,
            hang_timeout=hang_timeout,
            health_check=health_check,
            export=export,
            queue=queue,
            labels=labels,
            metrics_from_logs=metrics_from_logs,
        )
        if grid is not None or sweep is not None:
            return self._sweep(target, options, grid or {}, sweep, parallel)
        if parallel is not None:
            raise UsageError("parallel is for several jobs", hint="give a grid or a sweep")
        own, made = self._own_places(target, options), partial(self._submission, target)
        submission = made(tasks_placed(self._rest, options, made, own))
        return submitted(self._rest, submission, _warn, allow_pickle=allow_pickle)

    def run_array(self, target: Target, num_jobs: int, **options: Any) -> list[Job]:
        """Submit so many jobs of one thing, all or none, and give them by rank.

        `options` are the arguments of `run`. The jobs are called `<name>-0` and so on, and find
        their rank in TRAINWAY_JOB_RANK. On Slurm they are one array.
        """
        wanted = self._placed(target, RunOptions(**options))
        submission = self._submission(target, wanted)
        made, warnings = self._rest.submit_run(submission, {"num_jobs": num_jobs})
        for warning in warnings:
            _warn(warning)
        return [Job(self._rest, data, allow_pickle=wanted.allow_pickle) for data in made]

    def _sweep(
        self,
        target: Target,
        options: RunOptions,
        grid: Mapping[str, Sequence[Any]],
        sweep: str | Path | None,
        parallel: int | None,
    ) -> "Run":
        """One job for each trial."""
        from trainway.sdk.run import Run  # noqa: PLC0415 - only for sweeps
        from trainway.sdk.sweeps import trials, values_of  # noqa: PLC0415 - as above
        from trainway.sweep.placeholders import words  # noqa: PLC0415 - as above

        parameters = trials(values_of(grid), sweep)
        if isinstance(target, str | Path) and Path(target).suffix == SCRIPT:
            given = [str(arg) for arg in options.args]
            options = replace(options, args=words(parameters[0], given))
        options = self._placed(target, options)
        wanted: Json = {"parameters": parameters, "placeholders": not callable(target)}
        if parallel is not None:
            wanted["parallel"] = parallel
        made, warnings = self._rest.submit_run(self._submission(target, options), wanted)
        for warning in warnings:
            _warn(warning)
        rest = self._runs()
        return Run(rest, rest.run(made[0]["spec"]["run"]), allow_pickle=options.allow_pickle)

    def _placed(self, target: Target, options: RunOptions) -> RunOptions:
        """With the place of several jobs, which is one for all."""
        options = at_own_places(options, self._own_places(target, options))
        return placed(self._rest, options, partial(self._submission, target))

    def _own_places(self, target: Target, options: RunOptions) -> "dict[str, TaskPlaces]":
        """The places that tasks name themselves, where `on` names none."""
        return {} if options.on is not None else places_of_tasks(target, options.wishes)

    def _submission(self, target: Target, options: RunOptions) -> Submission:
        wishes, on = options.wishes, options.on
        objects = with_options(objects_of(target, wishes, options), options.slurm or {}, on)
        objects = options.marked(objects)
        if wishes.travels:
            from trainway.sdk.travel import staying  # noqa: PLC0415 - not for local jobs

            if note := staying(objects, to_hosts=not wishes.is_in_pods):
                _warn(note)
        sent: Json = {
            **job_options(self._rest.address, prefer_our_python=True, backend=on),
            **options.sent,
            **wishes.isolation(),
            **options.waiting(),
            **recovery_option(options.recovery_strategy, objects),
        }
        return Submission(objects, sent if on is None else {**sent, "backend": on})

    def job(self, ref: str) -> Job:
        """The job of that id, or the newest of that name."""
        return Job(self._rest, self._rest.get(ref))

    def jobs(
        self,
        *,
        name: str | None = None,
        phase: str | None = None,
        active: bool | None = None,
        limit: int = 100,
        labels: Mapping[str, str | None] | None = None,
        since: timedelta | datetime | None = None,
        metrics: Sequence[str] = (),
    ) -> list[Job]:
        """The newest jobs of those that all the filters let through.

        `phase` may be several, separated by commas. A label whose value is None may have any.
        `since` is the time of submission, or how long ago that may be at most. `metrics` are
        conditions on what was reported last: `["loss<0.3"]`.
        """
        items, _ = self._rest.page(
            limit=limit,
            name=name,
            phase=phase,
            active=active,
            labels=[
                key if value is None else f"{key}={value}" for key, value in (labels or {}).items()
            ],
            since=since_text(since),
            metrics=metrics,
        )
        return [Job(self._rest, item) for item in items]

    def runs(self, *, name: str | None = None, limit: int = 100) -> "list[Run]":
        """The newest runs: the jobs of each sweep and each array."""
        from trainway.sdk.run import Run  # noqa: PLC0415 - seldom needed

        rest = self._runs()
        return [Run(rest, item) for item in rest.runs(limit=limit, name=name)[0]]

    def create_schedule(
        self, cron: str, target: Target, wanted: Mapping[str, Any] | None = None, **options: Any
    ) -> "Schedule":
        """Have something run again and again, such as every day at three: `"0 3 * * *"`.

        `wanted` may have `name`, `timezone` (else UTC), `catch_up`, `overlap` and `paused`, as
        `trainway schedule create` has them; `options` are the arguments of `run`. Where `on` names
        several places, each job goes where it fits when it is due.
        """
        from trainway.sdk.schedules import created  # noqa: PLC0415 - only for schedules

        given, made = RunOptions(**options), partial(self._submission, target)
        own = self._own_places(target, given)
        asked = {**(wanted or {}), "cron": cron}
        schedule, warnings = created(self._rest, given, made, own, asked)
        for warning in warnings:
            _warn(warning)
        return schedule

    def schedules(self) -> "list[Schedule]":
        """All schedules, by name."""
        from trainway.sdk.schedules import all_schedules  # noqa: PLC0415 - only for schedules

        return all_schedules(self._rest)

    def _runs(self) -> "RunRest":
        from trainway.sdk.run_rest import RunRest  # noqa: PLC0415 - seldom needed

        return RunRest(self._rest.transport)

    def runtimes(self) -> list[Json]:
        """The training runtimes that the server knows."""
        return self._rest.runtimes()

    def backends(self) -> list[Json]:
        """Where jobs can run: checks and capacity."""
        return self._rest.backends()


def _warn(message: str) -> None:
    import warnings  # noqa: PLC0415 - seldom needed

    warnings.warn(message, stacklevel=3)
