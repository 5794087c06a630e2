"""Tournament states solved on a Ray cluster: every worker has the tables, and receives strategies and payoffs.

    with RayStageWorkers(tournament, "auto", workers=16) as workers:
        EquilibriumIteration(tournament.game, "pi-fp", tournament.icm_values, workers=workers)

The result of a state does not depend on the worker, so a run is the same on threads and on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.solvers.cluster.backends import connect_ray
from riverboat.tournaments.fictitious_play import solve_hand
from riverboat.tournaments.hand_tables import starting_hands
from riverboat.tournaments.stage_game import PushFoldResponseProblem, PushFoldStage
from riverboat.tournaments.stochastic_games import StageJob, StageResult
from riverboat.tournaments.tournament import Tournament


class RayStageWorkers(ExitStack):
    """Stage workers on a Ray cluster; implements `StageWorkers`.

    `close` stops them, and the cluster if it was started here.
    """

    def __init__(self, tournament: Tournament, address: str, workers: int) -> None:
        super().__init__()
        self.tournament, self.tables = tournament, starting_hands(tournament.players)
        self.ray, owns_cluster = connect_ray(address, workers)
        if owns_cluster:
            self.callback(self.ray.shutdown)
        processors = int(self.ray.cluster_resources().get("CPU", 0))
        if processors < workers:
            self.close()
            raise InputError(
                f"{workers} workers: the Ray cluster has {processors} processors; give --threads {max(processors, 1)}"
            )
        make = self.ray.remote(num_cpus=1)(_RayStageWorker)
        self.actors = [make.remote(tournament.to_dict()) for _ in range(workers)]
        for actor in self.actors:
            self.callback(self.ray.kill, actor)

    def __call__(self, jobs: Sequence[StageJob]) -> Iterator[StageResult]:
        references = [self.actors[index % len(self.actors)].play.remote(job) for index, job in enumerate(jobs)]
        for job, reference in zip(jobs, references, strict=True):
            strategy, gain, weights = self.ray.get(reference)
            stage = PushFoldStage(self.tournament.spot(self.tournament.states[job.state]), self.tables)
            yield strategy.copy(), gain, PushFoldResponseProblem(stage, strategy, weights)


class _RayStageWorker:
    """Ray actor that solves the stage games of tournament states in its own process."""

    def __init__(self, tournament: dict[str, Any]) -> None:
        self.tournament = Tournament.from_dict(tournament)
        self.tables = starting_hands(self.tournament.players)

    def play(self, job: StageJob) -> tuple[Array, float, Array]:
        stage = PushFoldStage(self.tournament.spot(self.tournament.states[job.state]), self.tables)
        # Arrays from Ray are read-only, and the kernels would be compiled again for read-only arrays.
        strategy, payoffs = job.strategy.copy(), job.payoffs.copy()
        solved, gain = solve_hand(stage, strategy, payoffs, job.memory, job.iterations, job.until)
        return solved, gain, stage.response_problem(solved).weights
