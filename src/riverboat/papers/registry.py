"""Registry of all experiments: what each reproduces, how long it takes, and the function that runs it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.papers.framework import ExperimentReport

MAX_OPTION_DIGITS = 12


@dataclass(frozen=True)
class Experiment:
    """A reproduction of a table or figure."""

    id: str
    title: str
    source: str  # authors, year, table or figure
    cost: str  # duration of the default run on two cores, such as "20 s"
    full_cost: str  # duration with --full; the same if the default run is complete
    function: str  # module of `riverboat.papers` and function (full, seed, **options), imported by `run`
    options: tuple[str, ...] = ()  # names of integer options of a spec, after a colon
    chosen: Mapping[str, int] = field(default_factory=dict)  # values of options that a spec gives

    def run(self, full: bool, seed: int) -> ExperimentReport:
        """Run at default size, or at the paper's size with `full`."""
        module, _, name = self.function.partition(":")
        report: ExperimentReport = getattr(importlib.import_module(f"riverboat.papers.{module}"), name)(
            full, seed, **self.chosen
        )
        return report


TABLE_1_OPTIONS = ("ranks", "suits", "buckets", "base", "iterations", "fine", "threads", "cuda", "part")
_EXPERIMENTS = (
    Experiment("essay-kuhn-trace", "One iteration of CFR on Kuhn poker, queen against jack",
        "essay on counterfactual regret minimisation, figures 1 and 2", "1 s", "5 s",
        "essay.kuhn_trace:run_kuhn_trace"),
    Experiment("essay-rps", "Regret matching on rock-paper-scissors",
        "essay on counterfactual regret minimisation, worked example", "1 s", "2 s", "essay.rps:run_rps"),
    Experiment("emd-example", "Distances of three histograms", "Ganzfried, thesis proposal, figure 2", "0 s", "0 s",
        "proposal.emd_example:run_emd_example"),
    Experiment("purification-matrices", "Purification in random 4 × 4 games with 3 × 3 abstractions",
        "Ganzfried, Sandholm & Waugh 2012, table 1", "10 s", "1 min", "purification:run_matrices", ("rows", "columns")),
    Experiment("purification-leduc", "Purified and thresholded strategies from abstractions of Leduc",
        "after Ganzfried, Sandholm & Waugh 2012", "5 s", "1 min", "purification:run_leduc"),
    Experiment("translation-clairvoyance", "Exploitability of the seven mappings in the clairvoyance game",
        "Ganzfried & Sandholm 2013, table 2", "3 s", "3 s", "translation:run_clairvoyance"),
    Experiment("translation-kuhn", "Exploitability of the seven mappings in no-limit Kuhn poker",
        "Ganzfried & Sandholm 2013, tables 3 and 4", "5 s", "5 s", "translation:run_kuhn"),
    Experiment("translation-leduc", "Exploitability of the seven mappings in no-limit Leduc",
        "Ganzfried & Sandholm 2013, table 6", "30 s", "30 s", "translation:run_leduc"),
    Experiment("safe-exploitation-kuhn", "Safe and unsafe exploitation in Kuhn poker",
        "Ganzfried & Sandholm 2012, Table 4 and Figures 10-11 (numbers of the thesis proposal)", "40 s", "5 min",
        "exploitation.safe_exploitation:run_kuhn"),
    Experiment("rpst", "Gifts and safe exploitation in rock-paper-scissors-toothpick",
        "Ganzfried & Sandholm 2012, Figure 9 and Propositions 7 and 8 (numbers of the thesis proposal)", "1 s", "2 s",
        "exploitation.safe_exploitation:run_rpst"),
    Experiment("dbbr-leduc", "Deviation-based best response in Leduc",
        "Ganzfried & Sandholm 2011, Table 3 and Figure 8 of the thesis proposal, in kind", "25 s", "10 min",
        "exploitation.dbbr:run_leduc"),
    Experiment("dbbr-table-3", "Deviation-based best response in limit hold'em",
        "Ganzfried & Sandholm 2011, Table 3 of the thesis proposal", "4 min", "40 min",
        "exploitation.dbbr:run_table_3"),
    Experiment("dbbr-figure-8", "Profit and win rate of deviation-based best response during a match",
        "Ganzfried & Sandholm 2011, Figure 8 of the thesis proposal", "2 min", "40 min",
        "exploitation.dbbr:run_figure_8"),
    Experiment("restricted-nash-leduc", "Exploitation against exploitability of restricted Nash responses in Leduc",
        "Johanson, Zinkevich & Bowling 2007, in kind", "10 s", "2 min", "exploitation.restricted_nash:run_leduc"),
    Experiment("restricted-nash-holdem", "Exploitation against exploitability of restricted Nash responses in hold'em",
        "Johanson, Zinkevich & Bowling 2007, in kind", "1 min", "6 min", "exploitation.restricted_nash:run_holdem"),
    Experiment("exploit-endgames", "A model of the first round, then endgames against its range",
        "Ganzfried, thesis proposal, section 4.3, in kind", "30 s", "4 min", "exploitation.endgames:run"),
    Experiment("exploit-many-players", "Three-player Kuhn: models of two opponents, and safe responses to them",
        "Ganzfried & Sandholm 2011 and 2015, for three players", "5 s", "20 s", "exploitation.three_players:run"),
    Experiment("safe-holdem", "A safe learning agent in hold'em: its winnings, and its exploitability at any time",
        "Ganzfried & Sandholm 2015, in kind", "2 min", "30 min", "exploitation.learning_agents:run_safe_holdem"),
    Experiment("changing-opponents",
        "Opponents that change their style: learning agents, change detection, and a choice among prepared strategies",
        "Ganzfried, thesis proposal, section 4, in kind", "1 min", "5 min",
        "exploitation.learning_agents:run_changing_opponents"),
    Experiment("propositions", "Propositions on purification and on endgames, constructed",
        "Ganzfried, thesis proposal, propositions 3, 5 and 6", "1 s", "1 s", "proposal.propositions:run_propositions"),
    Experiment("coin-toss", "Endgame solving: Coin Toss and Leduc's second round",
        "Brown & Sandholm 2017, Safe and nested endgame solving, figure 1 and section 4", "20 s", "15 min",
        "endgames.small_games:run_coin_toss"),
    Experiment("endgame-bound", "Safety bound and gain of endgame solving, Leduc's second round",
        "Brown & Sandholm 2017, Safe and nested endgame solving, theorem 2", "10 s", "2 min",
        "endgames.small_games:run_bound"),
    Experiment("endgame-table-1-small", "Endgame solving in small flop hold'em, from a base with buckets",
        "Brown & Sandholm 2017, Safe and nested endgame solving, table 1", "40 s", "10 min; 3 h without a GPU",
        "endgames.table_1:run_small", TABLE_1_OPTIONS),
    Experiment("endgame-table-1-large", "Endgame solving in large flop hold'em, from a base with buckets",
        "Brown & Sandholm 2017, Safe and nested endgame solving, table 1", "60 s", "20 min; 6 h without a GPU",
        "endgames.table_1:run_large", TABLE_1_OPTIONS),
    Experiment("endgame-table-2", "Nested endgames against an off-tree bet",
        "Brown & Sandholm 2017, Safe and nested endgame solving, table 2", "60 s", "20 min", "endgames.table_2:run",
        ("ranks", "suits", "raises", "base", "iterations", "threads", "part")),
    Experiment("search-methods",
        "Search at the table: every method against its own blueprint, and against a local best response",
        "none: figures of ours", "2 min", "hours; in parts with other seeds", "endgames.search_methods:run",
        ("hands", "deals", "walkers", "iterations", "river")),
    Experiment("endgame-refinements",
        "Refined equilibria of small endgames against weak opponents, and buckets for one endgame",
        "Ganzfried & Sandholm 2015, sections 3 and 4, in kind", "1 min", "10 min", "endgames.refinements:run"),
    Experiment("endgame-database", "An endgame database: errors by size, play, and depth-limited solving",
        "Ganzfried & Sandholm 2015, section 3.3, proposed there and not measured", "1 min", "20 min",
        "endgames.database:run"),
    Experiment("midgame-leaves", "Depth-limited search on a small deck: four kinds of leaf values",
        "Brown, Sandholm & Amos 2018, in kind: theirs is heads-up no-limit hold'em", "3 min", "40 min",
        "endgames.leaf_values:run"),
    Experiment("pcs-bound", "The regret bound of sampled CFR next to measured regret, Leduc",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, theorem 1", "5 s", "1 min",
        "public_chance_sampling.bound:run"),
    Experiment("pcs-figure-2a", "CS, OPCS, SPCS and PCS on [2-1] hold'em: exploitability against time",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 2a", "1 min", "8 min",
        "public_chance_sampling.figure_2:run_figure_2a"),
    Experiment("pcs-figure-2b", "CS, OPCS, SPCS and PCS on [2-4] hold'em: exploitability against time",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 2b", "3 min", "20 min",
        "public_chance_sampling.figure_2:run_figure_2b"),
    Experiment("pcs-figure-3", "CS and PCS on limit hold'em with percentile buckets: the abstract game against time",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 3", "5 min", "50 min",
        "public_chance_sampling.figure_3:run", ("seconds", "boards", "part")),
    Experiment("pcs-figure-4", "CS and PCS over training time against one fixed agent, with imperfect recall",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 4, in kind", "5 min", "50 min",
        "public_chance_sampling.figure_4:run", ("seconds", "parts", "hands")),
    Experiment("pcs-figure-5", "CS and PCS on Bluff: exploitability against time",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 5", "40 s", "8 min",
        "public_chance_sampling.figures_5_6:run_figure_5", ("seconds", "part")),
    Experiment("pcs-figure-6", "CS and PCS on Bluff, head to head against an ε-equilibrium",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 6", "1 min", "15 min",
        "public_chance_sampling.figures_5_6:run_figure_6", ("seconds", "iterations", "threads", "part")),
    Experiment("rhode-island", "Rhode Island hold'em: GameShrink, sizes, and the value without loss",
        "Gilpin & Sandholm 2007, Rhode Island hold'em", "3 min", "15 min", "abstraction.rhode_island:run"),
    Experiment("tartanian7-sizes", "The counts of the Tartanian7 paper",
        "Brown, Ganzfried & Sandholm 2015, sections 2 and 5, table 1", "1 s", "1 s", "tartanian7.sizes:run_sizes"),
    Experiment("blade-levels", "Head and blades on three levels, on a small deck",
        "Brown, Ganzfried & Sandholm 2015, Algorithm 4, with blades that are heads", "30 s", "7 min",
        "tartanian7.blade_levels:run_blade_levels"),
    Experiment("baselines", "Baselines for external sampling on Leduc",
        "Schmid, Burch, Lanctot, Moravcik, Kadlec & Bowling 2019, in kind", "1 min", "8 min", "sampling:run_baselines"),
    Experiment("blueprint-convergence", "Sampling over buckets: exploitability against time",
        "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 3, in kind", "30 s", "4 min",
        "sampling:run_convergence"),
    Experiment("proposal-figure-6", "Overfitting: abstract exploitability falls while real exploitability rises",
        "Ganzfried, thesis proposal, Figure 6, in kind", "2 min", "15 min", "abstraction.overfitting:run_overfitting"),
    Experiment("cfr-br", "CFR-BR: the least exploitable strategy that buckets can express",
        "Johanson, Bard, Burch & Bowling 2012, in kind", "4 min", "45 min", "abstraction.overfitting:run_cfr_br"),
    Experiment("continuous-von-neumann", "Thresholds of von Neumann's game",
        "Ganzfried, thesis proposal, section 2.3; von Neumann & Morgenstern 1944", "5 s", "60 s",
        "continuous.rivers:run_von_neumann"),
    Experiment("continuous-limit-river", "Qualitative models of the limit river with one bet and one raise",
        "Ganzfried, thesis proposal, section 2.3, figures 3 to 5", "10 s", "25 s", "continuous.rivers:run_limit_river"),
    Experiment("continuous-holdem-rivers", "Rivers of hold'em by thresholds", "Ganzfried, thesis proposal, section 2.3",
        "60 s, and a minute more where the demo was never built", "25 min", "continuous.holdem_rivers:run"),
    Experiment("continuous-three-players", "Three players: a river by iteration, Kuhn poker by mixed integer programs",
        "Ganzfried, thesis proposal, section 2.3; Szafron, Gibson & Sturtevant 2013 (values of Kuhn poker)", "40 s",
        "3 min", "continuous.three_players:run"),
    Experiment("tournament-epsilon", "The three-player tournament: ε of the solution",
        "Ganzfried & Sandholm, AAMAS 2008 and IJCAI 2009", "2 min, once", "30 min, once", "tournaments:run_epsilon"),
    Experiment("tournament-icm", "The three-player tournament: errors of the independent chip model",
        "Ganzfried & Sandholm, AAMAS 2008 and IJCAI 2009", "2 min, once", "30 min, once", "tournaments:run_icm"),
    Experiment("tournament-calls", "The three-player tournament: calls behind two all-ins",
        "Ganzfried & Sandholm, AAMAS 2008 and IJCAI 2009", "2 min, once", "30 min, once", "tournaments:run_calls"),
    Experiment("tournament-findings", "The three-player tournament: properties of its equilibrium",
        "Ganzfried & Sandholm, AAMAS 2008 and IJCAI 2009", "2 min, once", "30 min, once", "tournaments:run_findings"),
    Experiment("explain-kuhn", "The second player's half of Kuhn poker in four rules",
        "after Ganzfried & Yusuf 2017; Kuhn 1950", "2 s", "2 s", "explanation.small_games:run_kuhn"),
    Experiment("explain-leduc", "Leduc poker in at most twelve rules for each player", "after Ganzfried & Yusuf 2017",
        "10 s", "10 s", "explanation.small_games:run_leduc"),
    Experiment("explain-defence",
        "How often bets are called on 1,000 rivers: minimum defence frequency and its correction",
        "Ganzfried & Chiswick 2019", "30 s", "1 min", "explanation.defence:run"),
)  # fmt: skip
EXPERIMENTS: dict[str, Experiment] = {experiment.id: experiment for experiment in _EXPERIMENTS}


def find(spec: str) -> Experiment:
    """Return an experiment by its spec: an id with options, such as `purification-matrices:rows=5,columns=3`."""
    name, _, text = spec.partition(":")
    if name not in EXPERIMENTS:
        raise unknown_name_error("experiment", name, EXPERIMENTS)
    experiment = EXPERIMENTS[name]
    if not text:
        return experiment
    chosen: dict[str, int] = {}
    for option in text.split(","):
        key, number = _parse_option(experiment, option)
        if key in chosen:
            raise InputError(f"experiment {short_repr(spec)}: option {short_repr(key)} occurs twice")
        chosen[key] = number
    return replace(experiment, id=spec, title=f"{experiment.title}, {text}", chosen=chosen)


def _parse_option(experiment: Experiment, word: str) -> tuple[str, int]:
    key, _, number = word.partition("=")
    if not experiment.options:
        raise InputError(f"{experiment.id}: {short_repr(word)}: the experiment has no options")
    if key not in experiment.options:
        raise unknown_name_error(f"option of {experiment.id}", key, experiment.options)
    if not number.isdecimal() or len(number) > MAX_OPTION_DIGITS:
        raise InputError(f"{experiment.id}: {short_repr(word)}: give a whole number, as in {key}=4")
    return key, int(number)
