"""What researchers bring their own code to, at one place: games, schedules, rules, agents, strategies, sequence forms.

    from riverboat import research

    research.check_game(MyGame())              # contract suites of your own code
    rule = research.Rule(strategy, update)     # your own regret minimizer
    form = research.SequenceForm("kuhn")       # your own linear program

`riverboat` itself has the verbs, and the classes that most programs hold. This module has the rest that is stable for
research; each name is documented where it is defined. Decision 65 in docs/decisions has the reason for two places.
"""

from riverboat.agents.base import Agent as Agent
from riverboat.api.exploit import RobustResponse as RobustResponse
from riverboat.api.exploit import RobustResponses as RobustResponses
from riverboat.api.general_sum import CorrelatedResult as CorrelatedResult
from riverboat.api.general_sum import correlated as correlated
from riverboat.api.refine import Refinement as Refinement
from riverboat.api.respond import BestResponse as BestResponse
from riverboat.api.respond import BestResponses as BestResponses
from riverboat.api.sweep import SweepResult as SweepResult
from riverboat.api.sweep import SweepTrial as SweepTrial
from riverboat.core.observer import Observer as Observer
from riverboat.evaluation.quality import StrategyQuality as StrategyQuality
from riverboat.games.base import CHANCE as CHANCE
from riverboat.games.base import TERMINAL as TERMINAL
from riverboat.games.base import ComparisonPayoff as ComparisonPayoff
from riverboat.games.base import ConstantPayoff as ConstantPayoff
from riverboat.games.base import Game as Game
from riverboat.games.base import HistoryGame as HistoryGame
from riverboat.games.base import MatrixPayoff as MatrixPayoff
from riverboat.games.base import Outcome as Outcome
from riverboat.games.base import PrivateDeal as PrivateDeal
from riverboat.games.base import PublicGame as PublicGame
from riverboat.opponents.safe_responses import restricted_nash_curve as restricted_nash_curve
from riverboat.solvers.exact.sequence_form import SequenceForm as SequenceForm
from riverboat.solvers.result import SolveProgress as SolveProgress
from riverboat.solvers.schedules import Rule as Rule
from riverboat.solvers.schedules import Schedule as Schedule
from riverboat.strategies.mapping import StrategyMapping as StrategyMapping
from riverboat.strategies.profiles import as_strategy as as_strategy
from riverboat.subgames.lookahead.leaf_values import Continuations as Continuations
from riverboat.subgames.lookahead.leaf_values import value_table as value_table
from riverboat.subgames.lookahead.search import SearchResult as SearchResult
from riverboat.subgames.lookahead.search import search as search
from riverboat.subgames.lookahead.solver import solve_limited as solve_limited
from riverboat.subgames.resolving import lines_after_chance as lines_after_chance
from riverboat.testing import GameReport as GameReport
from riverboat.testing import check_agent as check_agent
from riverboat.testing import check_game as check_game
from riverboat.testing import check_schedule as check_schedule
from riverboat.testing import check_strategy as check_strategy
from riverboat.trees.history import HistoryTree as HistoryTree
from riverboat.trees.public import Infoset as Infoset
from riverboat.trees.public import PublicTree as PublicTree
