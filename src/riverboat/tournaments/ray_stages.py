"""States of a tournament played on a Ray cluster: every worker has the tables, and gets strategies and pay-offs.

    with RayStages(tournament, "auto", workers=16) as workers:
        Iteration(tournament.game, "pi-fp", tournament.chip_model, workers=workers)

What a state comes to does not depend on where it is played, so that a run is the same on threads and on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.solvers.cluster.backends import connect
from riverboat.tournaments.fictitious_play import play_hand
from riverboat.tournaments.hand_tables import starting_hands
from riverboat.tournaments.iteration import Job, Played
from riverboat.tournaments.stage import Seen, Stage
from riverboat.tournaments.tournament import Tournament


class RayStages:
    """Workers on a cluster; see `Workers`."""

    def __init__(self, tournament: Tournament, address: str, workers: int) -> None:
        self.tournament, self.tables = tournament, starting_hands(tournament.players)
        self.ray, self.mine = connect(address, workers)
        there = int(self.ray.cluster_resources().get("CPU", 0))
        if there < workers:
            self.close()
            raise InputError(
                f"{workers} workers: the Ray cluster has {there} processors; give --threads {max(there, 1)}"
            )
        make = self.ray.remote(num_cpus=1)(_Worker)
        self.actors = [make.remote(tournament.to_dict()) for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the workers go."""
        for actor in getattr(self, "actors", ()):
            self.ray.kill(actor)
        if self.mine:
            self.ray.shutdown()

    def __call__(self, jobs: Sequence[Job]) -> Iterator[Played]:
        asked = []
        for number, job in enumerate(jobs):
            given = job.state, job.strategy, job.pay, job.memory, job.iterations, job.until
            asked.append(self.actors[number % len(self.actors)].play.remote(*given))
        for job, reference in zip(jobs, asked, strict=True):
            strategy, gain, weights = self.ray.get(reference)
            stage = Stage(self.tournament.spot(self.tournament.states[job.state]), self.tables)
            yield strategy.copy(), gain, Seen(stage, strategy, weights)


class _Worker:
    """Plays states in a process of its own."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.tournament = Tournament.from_dict(described)
        self.tables = starting_hands(self.tournament.players)

    def play(
        self, state: int, strategy: Array, pay: Array, memory: int, iterations: int, until: float
    ) -> tuple[Array, float, Array]:
        stage = Stage(self.tournament.spot(self.tournament.states[state]), self.tables)
        # What Ray unpacks is read-only, and loops would be compiled for that once more.
        learned, gain = play_hand(stage, strategy.copy(), pay.copy(), memory, iterations, until)
        return learned, gain, stage.seen(learned).weights
