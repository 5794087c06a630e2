"""OpenSpiel bots as agents of our matches, and our strategies and agents as OpenSpiel bots.

    match(OpenSpielAgent(bots, "leduc"), "always-call", game="leduc")     # bots: one for each seat
    pyspiel.evaluate_bots(state, [open_spiel_bot(strategy, 0), bot], seed)

Bots see OpenSpiel's states, which hold the cards of both players. `OpenSpielAgent` therefore builds the state of a
decision from the observation, with an arbitrary card of the opponent: a bot that looks at it learns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from riverboat.agents.base import ActionProbabilities, Agent, PolicyAgent, act_on_match_state
from riverboat.cards.deck import card_name
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.formats.open_spiel_games import import_pyspiel, open_spiel_errors
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.strategies.open_spiel import to_open_spiel
from riverboat.strategies.tabular import Strategy

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}  # game files, and OpenSpiel's games with the same rules
_TOLERANCE = 1e-6  # of sums of probabilities

Policy: TypeAlias = list[tuple[int, float]]  # OpenSpiel's actions and their probabilities


class _PokerGame:
    """Kuhn or Leduc poker in both worlds: cards, lines and actions."""

    def __init__(self, name: str) -> None:
        if name not in GAMES:
            raise unknown_name_error("game", name, GAMES)
        self.rules, self.game = read_game(name), import_pyspiel().load_game(GAMES[name])
        self.cards = [int(card) for card in sorted(self.rules.deck.cards)]  # by OpenSpiel's number: ranks, then suits
        self.is_leduc = name == "leduc"

    def state(self, seat: int, hole: int, board: int | None, line: str) -> Any:
        """Return OpenSpiel's state after a line; the opponent has the lowest card that is left."""
        other = next(card for card in self.cards if card not in (hole, board))
        state = self.game.new_initial_state()
        for card in (hole, other) if seat == 0 else (other, hole):
            state.apply_action(self.cards.index(card))
        for k, letter in enumerate(line):
            if letter == "/" and board is not None:
                state.apply_action(self.cards.index(board))
            else:
                state.apply_action(self.action_number(letter, line[:k]))
        return state

    def action_number(self, letter: str, line: str) -> int:
        """Return OpenSpiel's number of f, c or r after a line."""
        if self.is_leduc:
            return "fcr".index(letter)
        return int(letter == "r" or (letter == "c" and "r" in line))  # 0: pass, 1: bet

    def letter(self, action: int, line: str) -> str:
        """Return f, c or r for OpenSpiel's action after a line."""
        if self.is_leduc:
            return "fcr"[action]
        return ("c" if action else "f") if "r" in line else ("r" if action else "c")

    def line(self, state: Any) -> tuple[str, list[int]]:
        """Return the line of a state, and its cards: of player 0, of player 1, and of the board."""
        history = state.history()
        cards, line = [self.cards[card] for card in history[:2]], ""
        acting = 0  # actions since the last card
        for action in history[2:]:
            if acting >= 2 and line[-1] == "c":  # a round ends with a call; the next number is a card
                cards.append(self.cards[action])
                line, acting = line + "/", 0
            else:
                line, acting = line + self.letter(action, line), acting + 1
        if acting >= 2 and line[-1] == "c" and not state.is_terminal() and state.is_chance_node():
            line += "/"
        return line, cards


class _PolicyPlayer:
    """A policy with the methods of a bot that provides its policy."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: Any) -> Policy:
        return list(self.policy.action_probabilities(state).items())


class OpenSpielAgent:
    """Agent for matches of Kuhn or Leduc poker that plays by OpenSpiel bots or by a policy.

    Bots that provide their policy are asked for it once at each information set, and actions are drawn from it by the
    seed, the number of the hand and the position in the line. Other bots are restarted at each decision, informed of the
    actions so far, and asked for a step.

    Parameters
    ----------
    bots
        The `pyspiel.Bot` of each seat, or one OpenSpiel policy for both.
    game
        Name of the game: kuhn or leduc.
    name
        Name in tables and messages.
    seed
        Seed of the draws from policies.

    Raises
    ------
    InputError
        OpenSpiel is not installed, or the game is another one.

    Examples
    --------
    >>> import pyspiel  # doctest: +SKIP
    >>> bots = [pyspiel.make_uniform_random_bot(player, 1) for player in (0, 1)]  # doctest: +SKIP
    >>> OpenSpielAgent(bots, "leduc").name  # doctest: +SKIP
    'open_spiel'
    """

    def __init__(self, bots: Sequence[Any] | Any, game: str = "leduc", name: str = "open_spiel", seed: int = 0) -> None:
        if hasattr(bots, "action_probabilities"):
            bots = [_PolicyPlayer(bots)] * 2
        if len(bots) != 2:
            raise InputError(f"{name}: {len(bots)} bots: give one for each of two seats")
        self._game = _PokerGame(game)
        self.bots, self.game_name, self.name, self.seed = tuple(bots), game, name, seed
        self._policies: dict[tuple[Any, ...], Policy] = {}
        if all(bot.provides_policy() for bot in bots):
            self.probabilities = self._probabilities  # makes this a PolicyAgent, which AIVAT needs

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError if the rules are not those of the agent's game."""
        if rules != self._game.rules:
            raise InputError(f"agent {self.name!r} plays {self.game_name!r} and cannot play {rules.name!r}")

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        return np.array([self._act_at(observations, i) for i in range(len(observations))], np.int32)

    def _act_at(self, observations: Observations, i: int) -> int:
        seat, line = int(observations.seat[i]), observations.line(i)
        bot = self.bots[seat]
        if bot.provides_policy():
            policy = self._policy(observations, i)
            draw = np.random.default_rng([self.seed, int(observations.hand[i]), len(line)]).random()
            totals = np.cumsum([probability for _, probability in policy])
            action = policy[min(int(np.searchsorted(totals, draw * totals[-1], "right")), len(policy) - 1)][0]
        else:
            with open_spiel_errors(f"agent {self.name!r} at {line!r}"):
                state = self._state(observations, i)
                _replay(bot, state)
                action = bot.step(state)
            if action not in state.legal_actions():
                raise InputError(f"agent {self.name!r} at {line!r}: illegal action {action!r}: {state.legal_actions()}")
        return self._move(observations, i, action)

    def _probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        return [
            [(self._move(observations, i, action), p) for action, p in self._policy(observations, i) if p > 0]
            for i in range(len(observations))
        ]

    def _move(self, observations: Observations, i: int, action: int) -> int:
        letter = self._game.letter(action, observations.line(i))
        if letter != "r":
            return int(CALL if letter == "c" else FOLD)
        legal = observations.betting(i).raise_range()
        assert legal is not None  # OpenSpiel's game has the same rules
        return int(legal.least)

    def _policy(self, observations: Observations, i: int) -> Policy:
        seat, line = int(observations.seat[i]), observations.line(i)
        key = seat, line, observations.hole[i].tobytes(), observations.board[i].tobytes() if "/" in line else b""
        if key not in self._policies:
            with open_spiel_errors(f"agent {self.name!r} at {line!r}"):
                state = self._state(observations, i)
                policy = [(int(action), float(p)) for action, p in self.bots[seat].get_policy(state)]
            legal = state.legal_actions()
            total = sum(p for _, p in policy)
            if not (all(a in legal and p >= 0 for a, p in policy) and abs(total - 1) <= _TOLERANCE):
                raise InputError(
                    f"agent {self.name!r} at {line!r}: the policy {policy} is no distribution over actions {legal}"
                )
            self._policies[key] = sorted((action, p / total) for action, p in policy)
        return self._policies[key]

    def _state(self, observations: Observations, i: int) -> Any:
        line = observations.line(i)
        board = int(observations.board[i][0]) if "/" in line else None
        return self._game.state(int(observations.seat[i]), int(observations.hole[i][0]), board, line)


def _replay(bot: Any, state: Any) -> None:
    """Restart a bot and inform it of the actions before a state."""
    bot.restart()
    past = state.get_game().new_initial_state()
    for action in state.history():
        player = past.current_player()
        if not past.is_chance_node():
            bot.inform_action(past, player, action)
        past.apply_action(action)


def open_spiel_bot(player: Strategy | Agent, seat: int, *, game: str = "leduc", seed: int = 0) -> Any:
    """Return a `pyspiel.Bot` that plays by a strategy or an agent.

    Parameters
    ----------
    player
        Strategy of a game that OpenSpiel has too (`Strategy.to_open_spiel`), or an agent that plays Kuhn or Leduc poker.
    seat
        Player of OpenSpiel's game, from 0.
    game
        Name of the game of an agent: kuhn or leduc.
    seed
        Seed of the bot's draws.

    Returns
    -------
    pyspiel.Bot
        The bot: step, restart, inform_action; also its policy, if the strategy or the agent has one.

    Raises
    ------
    InputError
        OpenSpiel is not installed, or has no such game, or the agent cannot play it.

    Examples
    --------
    >>> import riverboat as rb
    >>> bot = open_spiel_bot(rb.solve("kuhn", iterations=100).strategy, 0)  # doctest: +SKIP
    >>> bot.provides_policy()  # doctest: +SKIP
    True
    """
    make = _bot_class()
    if isinstance(player, Strategy):
        policy = to_open_spiel(player)
        if not 0 <= seat < player.tree.players:
            raise InputError(f"seat={seat}: {player.tree.name} has players 0 to {player.tree.players - 1}")

        def by_strategy(state: Any, hand: int) -> Policy:
            probabilities = policy.action_probabilities(state)
            return [(action, float(p)) for action, p in probabilities.items()]

        return make(seat, seed, policy.game, by_strategy, True)
    if seat not in (0, 1):
        raise InputError(f"seat={seat}: must be 0 or 1")
    poker = _PokerGame(game)
    player.check_rules(poker.rules)
    has_policy = isinstance(player, PolicyAgent)

    def by_agent(state: Any, hand: int) -> Policy:
        line, cards = poker.line(state)
        hole = card_name(cards[seat])
        board = f"/{card_name(cards[2])}" if len(cards) > 2 else ""
        text = f"MATCHSTATE:{seat}:{hand}:{line}:" + (f"{hole}|" if seat == 0 else f"|{hole}") + board
        observed = parse_match_state(text, poker.rules)
        if not isinstance(player, PolicyAgent):
            return [(poker.action_number(act_on_match_state(player, observed)[0], line), 1.0)]
        (row,) = player.probabilities(Observations.from_match_states([observed]))
        letters = {int(FOLD): "f", int(CALL): "c"}
        return [(poker.action_number(letters.get(move, "r"), line), p) for move, p in row]

    return make(seat, seed, poker.game, by_agent, has_policy)


@cache
def _bot_class() -> Any:
    """Return the class of bots; pyspiel is imported when the first one is made."""
    base: Any = import_pyspiel().Bot

    class RiverboatBot(base):  # type: ignore[misc]  # pyspiel has no types
        """A bot that draws its actions from a function of the state and the number of the hand."""

        def __init__(
            self, seat: int, seed: int, game: Any, decide: Callable[[Any, int], Policy], has_policy: bool
        ) -> None:
            base.__init__(self)
            self.seat, self._game, self._decide, self._has_policy = seat, str(game), decide, has_policy
            self._random, self._hand = np.random.default_rng(seed), 0

        def player_id(self) -> int:
            return self.seat

        def provides_policy(self) -> bool:
            return self._has_policy

        def restart(self) -> None:
            self._hand += 1

        def restart_at(self, state: Any) -> None:
            self.restart()

        def inform_action(self, state: Any, player: int, action: int) -> None:
            """Do nothing: decisions are functions of the state."""

        def get_policy(self, state: Any) -> Policy:
            if str(state.get_game()) != self._game:
                raise InputError(f"bot for {self._game}: the state is of {state.get_game()}")
            if state.current_player() != self.seat:
                raise InputError(f"bot of player {self.seat}: it is the turn of player {state.current_player()}")
            return self._decide(state, self._hand)

        def step_with_policy(self, state: Any) -> tuple[Policy, int]:
            policy = self.get_policy(state)
            actions, probabilities = zip(*policy, strict=True)
            weights = np.array(probabilities)
            return policy, int(actions[self._random.choice(len(actions), p=weights / weights.sum())])

        def step(self, state: Any) -> int:
            return self.step_with_policy(state)[1]

    return RiverboatBot
