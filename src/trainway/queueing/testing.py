"""A managed queue on a virtual clock, which holds every decision against the rules."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from trainway.agent.controllers.gang_queue import Decisions
from trainway.queueing.amounts import CPU, GPU, JOBS, MEMORY, Amounts, gpu_of
from trainway.queueing.decision import PREEMPTING, decide
from trainway.queueing.elastic_nodes import without
from trainway.queueing.queue_policy import Preemption, QueuePolicy, QueueState
from trainway.queueing.snapshot import RunningGang, Snapshot, WaitingGang

H100 = gpu_of("H100")
LANES: dict[str, Amounts] = {
    "local": {CPU: 8_000, MEMORY: 64, GPU: 4, H100: 2},
    "ssh/lab": {CPU: 16_000, MEMORY: 64, GPU: 8},
}
GRACE_S = 5
_ALL = 1_000_000
"""More nodes than any job has: the whole of it."""
_MOST_UNKNOWN = 6
"""So many jobs without a known end are looked at in every combination."""

Spans = list[tuple[Amounts, int | None]]
"""Requests, and when they end; None: nobody knows."""


@dataclass
class Job:
    """One that was submitted, and how long it really takes."""

    gang: WaitingGang
    arrives: int
    duration: int
    spare: tuple[Amounts, ...] = ()
    """The nodes that it can do without once it runs."""


@dataclass
class Simulation:
    """A queue from the first arrival to the last start."""

    queues: dict[str, QueuePolicy]
    lanes: dict[str, Amounts | None]
    jobs: dict[str, Job]
    now: int = 0
    waiting: dict[str, WaitingGang] = field(default_factory=dict)
    running: dict[str, RunningGang] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)
    """When each started first."""
    refused: set[str] = field(default_factory=set)
    promised: dict[str, set[str]] = field(default_factory=dict)
    """Whom room is being made for, and by whom."""
    preemptions: int = 0
    shrinkings: int = 0
    overtakings: int = 0

    def play(self) -> None:
        """All of it; afterwards every job has started that ever could."""
        arrivals = sorted(self.jobs.values(), key=lambda job: job.arrives)
        last = arrivals[-1].arrives
        longest = max(job.duration for job in arrivals) + GRACE_S
        bound = last + 2 * len(arrivals) * longest
        while arrivals or self.waiting:
            self._pass_time(arrivals)
            came = [job for job in arrivals if job.arrives <= self.now]
            arrivals = arrivals[len(came) :]
            self.waiting |= {job.gang.id: job.gang for job in came}
            if came:
                self.promised.clear()
            self._round()
            assert self.now <= bound, "some job has not started in time"

    def _pass_time(self, arrivals: list[Job]) -> None:
        """Go on to the next time at which anything happens."""
        times = [*self.ends.values(), *(job.arrives for job in arrivals[:1])]
        assert times, f"nothing will ever start {sorted(self.waiting)}"
        self.now = max(min(times), self.now)
        for job_id in [job_id for job_id, end in self.ends.items() if end <= self.now]:
            gang = self.running.pop(job_id)
            del self.ends[job_id]
            if gang.leaves_for and not gang.gives:
                self.waiting[job_id] = self.jobs[job_id].gang

    def _round(self) -> None:
        snapshot = Snapshot(
            list(self.waiting.values()),
            list(self.running.values()),
            self.queues,
            self.lanes,
            self.now,
        )
        decisions = decide(snapshot)
        self._check_heads(decisions)
        self._check_promises(decisions)
        for gang, _ in decisions.start:
            self._start(gang)
        for gang, _, _ in decisions.refused:
            self.refused.add(gang.id)
            del self.waiting[gang.id]
        self._check_amounts()
        self._check_preemptions(snapshot, decisions)
        for victim, gang in decisions.preempted:
            self._preempt(victim, gang)

    def _start(self, gang: WaitingGang) -> None:
        del self.waiting[gang.id]
        self.started.setdefault(gang.id, self.now)
        self.ends[gang.id] = self.now + self.jobs[gang.id].duration
        self.running[gang.id] = _running(gang, self.now, self.jobs[gang.id].spare)

    def _preempt(self, victim: RunningGang, gang: WaitingGang) -> None:
        self.waiting[gang.id] = replace(gang, owed=self.now)
        if victim.gives:
            self._shrink(victim, gang)
            return
        self.preemptions += 1
        self.promised.setdefault(gang.id, set()).add(victim.id)
        end = min(self.now + GRACE_S, self.ends[victim.id])
        self.ends[victim.id] = end
        self.running[victim.id] = replace(victim, ends=end, leaves_for=gang.id)

    def _shrink(self, victim: RunningGang, gang: WaitingGang) -> None:
        """It gives up nodes, which are gone when their grace period is over, or the job is."""
        self.shrinkings += 1
        nodes = f"{victim.id}/{len(self.running[victim.id].spare)}"
        self.running[victim.id] = without(self.running[victim.id], victim.gives)
        self.ends[nodes] = min(self.now + GRACE_S, self.ends[victim.id])
        self.promised.setdefault(gang.id, set()).add(nodes)
        self.running[nodes] = replace(
            victim, id=nodes, ends=self.ends[nodes], leaves_for=gang.id, spare=()
        )

    def _check_promises(self, decisions: Decisions) -> None:
        """Whoever room was made for starts once it is there, unless a higher priority came in."""
        begun = {gang.id for gang, _ in decisions.start}
        leaving = {one.id for one in self.running.values() if one.leaves_for}
        priorities = [gang.priority for gang, _ in decisions.start]
        priorities += [gang.priority for gang in decisions.heads]
        for job_id, victims in list(self.promised.items()):
            is_later = any(one > self.jobs[job_id].gang.priority for one in priorities)
            if job_id in begun or is_later:
                del self.promised[job_id]
            elif not leaving and not victims & self.running.keys():  # it may need what others leave
                raise AssertionError(f"{job_id} got room from {victims} and did not start")

    def _check_amounts(self) -> None:
        """Nothing is used that is not there, and no quota is exceeded."""
        for lane, amounts in self.lanes.items():
            if amounts is not None:
                used = total(gang for gang in self.running.values() if gang.lane == lane)
                assert all(used[name] <= amounts.get(name, 0) for name in used if name != JOBS)
        by_cohort: dict[str, list[QueuePolicy]] = {}
        for policy in self.queues.values():
            used = self._used(policy)
            if not policy.cohort:
                assert all(used[name] <= most for name, most in policy.quota.items())
                continue
            by_cohort.setdefault(policy.cohort, []).append(policy)
            for name, most in policy.borrowing.items():
                assert used[name] <= policy.quota[name] + most
        for members in by_cohort.values():
            for name in {name for policy in members for name in policy.quota}:
                having = [policy for policy in members if name in policy.quota]
                used_in_all = sum(self._used(policy)[name] for policy in having)
                assert used_in_all <= sum(policy.quota[name] for policy in having)

    def _used(self, policy: QueuePolicy) -> Counter[str]:
        return total(gang for gang in self.running.values() if gang.queue == policy.name)

    def _check_preemptions(self, snapshot: Snapshot, decisions: Decisions) -> None:
        """All victims together are enough, and none can be spared."""
        victims: dict[str, list[RunningGang]] = {}
        for victim, gang in decisions.preempted:
            victims.setdefault(gang.id, []).append(victim)
            policy = self.queues[gang.queue]
            is_lower = victim.priority < gang.priority and policy.preemption != Preemption.NEVER
            assert is_lower or (policy.reclaims and victim.queue != gang.queue)
            assert not victim.leaves_for
            assert victim.id in {one.id for one in snapshot.running}
            assert victim.gives <= len(self.running[victim.id].spare)
        kept: list[RunningGang] = []
        """What those before it wait for counts as used in their queues."""
        for gang in decisions.in_order:
            if gang.id in self.kept(decisions) and gang.id not in victims:
                kept.append(RunningGang(gang.id, gang.request, "kept", gang.queue))
            if gang.id not in victims:
                continue
            chosen = victims[gang.id]
            rest = [one for one in self.running.values() if not one.leaves_for] + kept
            kept.append(RunningGang(gang.id, gang.request, "kept", gang.queue))
            counts = {one.id: one.gives or _ALL for one in chosen}
            assert self._would_start(gang, remaining(rest, counts))
            for spared in chosen:
                fewer = {**counts, spared.id: max(spared.gives - 1, 0)}
                others = remaining(rest, fewer)
                assert not self._would_start(gang, others), f"{spared.id} could have been spared"
                if not spared.gives and spared.spare:
                    most = remaining(rest, {**counts, spared.id: len(spared.spare)})
                    assert not self._would_start(gang, most), f"nodes of {spared.id} are enough"

    def kept(self, decisions: Decisions) -> set[str]:
        """For whom something is kept."""
        making = {gang.id for gang, reason, _ in decisions.waiting if reason == PREEMPTING}
        return making | {gang.id for gang in decisions.heads}

    def _would_start(self, gang: WaitingGang, running: list[RunningGang]) -> bool:
        alone = replace(gang, limit_s=None)
        snapshot = Snapshot([alone], running, self.queues, self.lanes, self.now)
        return bool(decide(snapshot).start)

    def _check_heads(self, decisions: Decisions) -> None:
        """Whoever starts past the first of a lane does not delay it."""
        begun = [gang for gang, _ in decisions.start]
        order = {gang.id: place for place, gang in enumerate(decisions.in_order)}
        for head in decisions.heads:
            amounts = self.lanes[head.lane]
            assert amounts is not None
            known = [  # who makes room for one behind it, nobody knew when it was its turn
                victim for victim, gang in decisions.preempted if order[gang.id] <= order[head.id]
            ]
            spans = self._spans(head.lane, known)
            later: Spans = []
            for gang in begun:
                if gang.lane == head.lane:
                    end = None if gang.limit_s is None else self.now + gang.limit_s
                    group = later if order[gang.id] > order[head.id] else spans
                    group.append((gang.request, end))
            if later:
                self.overtakings += 1
                self._check_delay(head, amounts, spans, later)

    def _spans(self, lane: str, leaving: list[RunningGang]) -> Spans:
        """What runs there, with all that leaves soon."""
        counts = {victim.id: victim.gives or _ALL for victim in leaving}
        here = [one for one in self.running.values() if one.lane == lane]
        spans: Spans = [(one.request, one.ends) for one in remaining(here, counts)]
        soon = self.now + GRACE_S
        return spans + [(one.request, soon) for one in leaving if one.lane == lane]

    def _check_delay(self, head: WaitingGang, amounts: Amounts, spans: Spans, later: Spans) -> None:
        """By trying all times, and all sets of jobs whose end nobody knows."""
        known = [span for span in spans if span[1] is not None]
        unknown = [span for span in spans if span[1] is None][:_MOST_UNKNOWN]
        rest = [span for span in spans if span[1] is None][_MOST_UNKNOWN:]
        without = earliest(head.request, amounts, spans, self.now)
        if without is not None:
            assert earliest(head.request, amounts, [*spans, *later], self.now) == without
            return
        for left in subsets(unknown):
            before = earliest(head.request, amounts, [*rest, *left, *known], self.now)
            after = earliest(head.request, amounts, [*rest, *left, *known, *later], self.now)
            assert before == after


def earliest(wanted: Amounts, amounts: Amounts, spans: Spans, now: int) -> int | None:
    """The first time at which so much is free, by looking at every time at which any ends."""
    for time in sorted({now, *(max(end, now) for _, end in spans if end is not None)}):
        free = Counter(dict(amounts))
        for request, end in spans:
            if end is None or max(end, now) > time or (time == now and end > now):
                free.subtract(request)
        if all(free[name] >= amount for name, amount in wanted.items() if amount):
            return time
    return None


def subsets(spans: Spans) -> Iterator[Spans]:
    """All of them."""
    for some in chain.from_iterable(combinations(spans, size) for size in range(len(spans) + 1)):
        yield list(some)


def total(gangs: Iterator[RunningGang]) -> Counter[str]:
    """What they use together, and how many they are."""
    used: Counter[str] = Counter()
    for gang in gangs:
        used.update(gang.request)
        used[JOBS] += not gang.gives
    return used


def remaining(running: Iterable[RunningGang], counts: Mapping[str, int]) -> list[RunningGang]:
    """Those who run without so many nodes of each, or without all of it."""
    return [without(one, counts.get(one.id, 0)) for one in running if counts.get(one.id, 0) != _ALL]


def schedule(seed: int) -> Simulation:
    """Some jobs and queues."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    queues = {name: _queue(name, chance) for name in ("default", "team-a", "team-b", "team-c")}
    jobs = [_job(number, chance, list(queues)) for number in range(chance.randint(1, 30))]
    lanes: dict[str, Amounts | None] = {**LANES, "slurm/hpc": None}
    return Simulation(queues, lanes, {job.gang.id: job for job in jobs})


def busy(seed: int) -> Snapshot:
    """The jobs of many schedules at once, of which many ask for the same; some of them run."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    simulation = schedule(seed)
    queues = {
        name: replace(policy, state=chance.choice((*QueueState, QueueState.OPEN)))
        for name, policy in simulation.queues.items()
    }
    shapes = [_job(number, chance, list(queues)).gang.request for number in range(6)]
    gangs = [
        replace(_job(number, chance, list(queues)).gang, request=chance.choice(shapes))
        for number in range(chance.randint(1, 120))
    ]
    first = Snapshot(gangs[: len(gangs) // 4], [], simulation.queues, simulation.lanes, 0)
    running = [_running(gang, 0) for gang, _ in decide(first).start]
    waiting = gangs[len(gangs) // 4 :]
    return Snapshot(waiting, running, queues, simulation.lanes, chance.randint(0, 30))


def _running(gang: WaitingGang, now: int, spare: tuple[Amounts, ...] = ()) -> RunningGang:
    """The same one, once it has started."""
    return RunningGang(
        *(gang.id, gang.request, gang.lane, gang.queue, gang.user, gang.priority, now),
        None if gang.limit_s is None else now + gang.limit_s,
        spare=spare,
    )


def _queue(name: str, chance: random.Random) -> QueuePolicy:
    if name == "default":
        return QueuePolicy(name)
    quota = {GPU: chance.randint(1, 8), JOBS: chance.randint(1, 6)}
    if chance.random() < 0.5:
        quota[CPU] = 1000 * chance.randint(2, 12)
    cohort = chance.choice(("", "research"))
    return QueuePolicy(
        name,
        quota,
        cohort=cohort,
        borrowing={GPU: chance.randint(0, 4)} if cohort and chance.random() < 0.5 else {},
        weight=chance.randint(1, 3),
        preemption=chance.choice(list(Preemption)),
        reclaims=bool(cohort) and chance.random() < 0.5,
        grace_s=GRACE_S,
    )


def _job(number: int, chance: random.Random, queues: list[str]) -> Job:
    lane = chance.choice((*LANES, *LANES, "slurm/hpc"))
    is_small = chance.random() < 0.5
    gpus = chance.choice((0, 1) if is_small else (0, 1, 2, 4, 6))
    most_cpus, most_memory = (2, 10) if is_small else (8, 40)
    request = {
        CPU: 1000 * chance.randint(0, most_cpus),
        MEMORY: chance.randint(0, most_memory),
        GPU: gpus,
    }
    if gpus and lane == "local" and chance.random() < 0.3:
        request[H100] = gpus
    limit = chance.choice((None, chance.randint(1, 20), chance.randint(1, 60)))
    gang = WaitingGang(
        *(f"job-{number:03}", request, lane, chance.choice(queues), chance.choice("xyz")),
        priority=chance.choice((0, 0, 0, -1000, 5, 1000)),
        order=number,
        limit_s=limit,
    )
    duration = chance.randint(1, 60 if limit is None else limit)
    spare: tuple[Amounts, ...] = ()
    if not is_small:
        nodes = chance.randint(2, 6)
        node = {name: amount // nodes for name, amount in request.items()}
        spare = (node,) * chance.randint(1, nodes - 1)
    return Job(gang, arrives=chance.randint(0, 50), duration=duration, spare=spare)
