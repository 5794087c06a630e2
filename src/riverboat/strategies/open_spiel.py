"""Strategies as OpenSpiel policies, and back.

Trees of `open_spiel:` games are converted as they are. Some of our own games are also in OpenSpiel: for those
both trees are walked in step, deal by deal and move by move, and every pay-off, probability and information
set is compared, so that a difference in the rules is an error and never a wrong policy.

A game with simultaneous moves is turn-based here, and so is the game of its policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.formats.open_spiel_games import PREFIX, import_pyspiel, load, spiel_errors
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.small.poker import OneCardPoker, kuhn, leduc
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import histories
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

CONVERTIBLE = "open_spiel:NAME(...), kuhn and leduc (limit, or no-limit with menu=*), bluff:1,1"

Translate: TypeAlias = Callable[[tuple[str, ...]], tuple[str, ...]]  # our moves at a node, as OpenSpiel calls them


def _pass_or_bet(moves: tuple[str, ...]) -> tuple[str, ...]:
    """Kuhn: fold and check are `Pass`, call and bet are `Bet`."""
    facing = "f" in moves
    return tuple({"f": "Pass", "c": "Bet" if facing else "Pass", "r": "Bet"}.get(move, move) for move in moves)


def _fold_call_raise(moves: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({"f": "Fold", "c": "Call", "r": "Raise"}.get(move, move) for move in moves)


def _sizes(moves: tuple[str, ...]) -> tuple[str, ...]:
    """Universal poker also says the total that a player has put in: `r7` is `Bet7`."""
    return tuple({"f": "Fold", "c": "Call"}.get(move, f"Bet{move[1:]}") for move in moves)


def _bids(moves: tuple[str, ...]) -> tuple[str, ...]:
    """The star is face 6."""
    return tuple("Liar" if move == "bluff" else move.replace("*", "6") for move in moves)


# Chance needs no table: both sides list the cards (faces) that are left from low to high.
_MOVES: dict[tuple[str, str], Translate] = {
    ("kuhn", "kuhn_poker"): _pass_or_bet,
    ("kuhn", "python_kuhn_poker"): _pass_or_bet,
    ("kuhn", "universal_poker"): _sizes,
    ("leduc", "leduc_poker"): _fold_call_raise,
    ("leduc", "universal_poker"): _sizes,
    ("bluff:1,1", "liars_dice"): _bids,
}


class _Place(NamedTuple):
    """Where one of our information sets lies in OpenSpiel's game."""

    state: Any  # pyspiel.State: a history of it
    actions: list[int]  # OpenSpiel's numbers, in the order of our moves


def to_open_spiel(strategy: Strategy) -> Any:
    """The strategy as an `open_spiel.python.policy.TabularPolicy`; its `game` is OpenSpiel's game."""
    game = _partner(strategy.tree)
    from open_spiel.python.policy import TabularPolicy

    translate = _translation(strategy.tree, game)
    tree = histories(strategy.tree)
    table = strategy.probabilities if tree is strategy.tree else strategy.probabilities[tree.origin]
    places = _walk(tree, game, translate)
    # Built from all states of the game, so that rows are numbered as in everybody else's policies.
    policy = TabularPolicy(game)
    for place, offset, width in zip(places, tree.offsets, tree.widths, strict=True):
        row = policy.action_probability_array[policy.state_index(place.state)]
        row[:] = 0.0
        row[place.actions] = table[offset : offset + width]
    return policy


def from_open_spiel(tree: Tree, policy: Any) -> Strategy:
    """The strategy for `tree` that an OpenSpiel policy describes, by its `action_probabilities(state)`."""
    game = getattr(policy, "game", None)  # policies of the C++ side do not know theirs
    if game is None:
        game = _partner(tree)
    translate = _translation(tree, game)
    unrolled = histories(tree)
    table = np.empty(unrolled.table)
    places = _walk(unrolled, game, translate)
    for place, offset, width in zip(places, unrolled.offsets, unrolled.widths, strict=True):
        table[offset : offset + width] = _row(tree, policy, place)
    provenance = {"method": "open_spiel", "policy": type(policy).__name__}
    if unrolled is tree:
        return Strategy(tree, table, provenance)
    public = Strategy.uniform(tree).probabilities.copy()  # also holds hands that cannot be dealt
    public[unrolled.origin] = table
    return Strategy(tree, public, provenance)


def _row(tree: Tree, policy: Any, place: _Place) -> Array:
    where = f"{tree.name}: the policy at {place.state.information_state_string()!r}"
    try:
        given = policy.action_probabilities(place.state)
    except KeyError:
        raise InputError(f"{where} is missing; give a policy for all players and states") from None
    row = np.array([float(given.get(action, 0.0)) for action in place.actions])
    if not (row.min() >= 0 and abs(row.sum() - 1) <= 1e-6):
        raise InputError(f"{where} has probabilities {row.tolist()}, which do not sum to one over the legal actions")
    return row


def _partner(tree: Tree) -> Any:
    """The pyspiel game that has (or should have) the rules of this tree."""
    pyspiel = import_pyspiel()
    if tree.name.startswith(PREFIX):
        return load(tree.name.removeprefix(PREFIX)).game
    game = tree.game if isinstance(tree, PublicTree) else None
    if isinstance(game, OneCardPoker) and _rules(game) not in (_rules(kuhn()), _rules(leduc())):
        with spiel_errors(f"{tree.name} as OpenSpiel's universal_poker"):
            return pyspiel.load_game("universal_poker", _universal(game))
    # An unrolled tree does not know its game: try the standard rules, the walk finds out.
    usual = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "bluff:1,1": "liars_dice"}
    if tree.players > 2:
        seats = f":players={tree.players}"
        usual = {f"kuhn{seats}": f"kuhn_poker(players={tree.players})",
                 f"leduc{seats}": f"leduc_poker(players={tree.players},suit_isomorphism=True)"}  # fmt: skip
    if tree.name not in usual:
        raise InputError(f"{tree.name} cannot be converted; these games can: {CONVERTIBLE}")
    return pyspiel.load_game(usual[tree.name])


def _rules(game: OneCardPoker) -> tuple[object, ...]:
    return game.ranks, game.suits, game.rounds, game.rules


def _universal(game: OneCardPoker) -> dict[str, str | int]:
    """The parameters of OpenSpiel's universal_poker for Kuhn and Leduc with other cards or stakes."""
    rules, rounds = game.rules, game.rounds
    if game.ranks > 13 or rules.chip != 1 or (rules.sizes is None and "*" not in rules.menu.split("/")):
        raise InputError(
            f"{game.name} with ranks={game.ranks}, menu={rules.menu!r}, chip={rules.chip:g} cannot be converted: "
            f"OpenSpiel's universal_poker needs at most 13 ranks, menu=* and chip=1"
        )
    parameters: dict[str, str | int] = {
        "numPlayers": 2,
        "numRounds": rounds,
        "numRanks": game.ranks,
        "numSuits": game.suits,
        "numHoleCards": 1,
        "numBoardCards": " ".join(["0"] + ["1"] * (rounds - 1)),
        "firstPlayer": " ".join(["1"] * rounds),
        "blind": f"{rules.ante:.0f} {rules.ante:.0f}",  # equal blinds are antes
    }
    if rules.cap is not None:
        parameters["maxRaises"] = " ".join([str(rules.cap)] * rounds)
    if rules.sizes is not None:
        sizes = " ".join(f"{size:.0f}" for size in rules.sizes)
        return parameters | {"betting": "limit", "bettingAbstraction": "fcpa", "raiseSize": sizes}
    stack = f"{rules.ante + (rules.stack or 0):.0f}"
    return parameters | {"betting": "nolimit", "bettingAbstraction": "fullgame", "stack": f"{stack} {stack}"}


def _translation(tree: Tree, game: Any) -> Translate | None:
    """How our moves are called in OpenSpiel's game; None where both list the same moves in the same order."""
    kind = game.get_type()
    if kind.dynamics != kind.Dynamics.SEQUENTIAL:
        raise InputError(
            f"{tree.name}: the policy is for {game}, which has simultaneous moves; "
            f"make one for pyspiel.convert_to_turn_based(game)"
        )
    if game.num_players() != tree.players:
        raise InputError(f"{tree.name} has {tree.players} players, and OpenSpiel's {game} has {game.num_players()}")
    if tree.name.startswith(PREFIX):
        return None
    for name in (tree.name, tree.name.partition(":")[0]):
        if (name, kind.short_name) in _MOVES:
            return _MOVES[name, kind.short_name]
    raise InputError(f"{tree.name} cannot be converted to or from {game}; these games can: {CONVERTIBLE}")


def _walk(tree: HistoryTree, game: Any, translate: Translate | None) -> list[_Place]:
    """Walk both trees in step; the place of each of our information sets, by its number."""
    payoffs, chance = tree.payoffs.tolist(), tree.chance.tolist()
    places: list[_Place] = []
    names: list[str] = []  # OpenSpiel's, by our number

    def same(state: Any, what: str, ours: object, theirs: object, agree: bool) -> None:
        if not agree:
            raise InputError(
                f"{tree.name} is not OpenSpiel's {game}: after {state.history()} the {what} "
                f"{ours!r} here and {theirs!r} there"
            )

    def match(state: Any, moves: tuple[str, ...]) -> list[int]:
        """OpenSpiel's numbers for our moves."""
        legal: list[int] = state.legal_actions()
        player = state.current_player()
        labels = [state.action_to_string(player, action).removeprefix(f"player={player} move=") for action in legal]
        wanted = translate(moves) if translate else labels
        same(state, "moves are", moves, labels, len(moves) == len(labels) and sorted(wanted) == sorted(labels))
        return [legal[labels.index(label)] for label in wanted] if translate else legal

    work = [(0, game.new_initial_state())]
    while work:
        node, state = work.pop()
        who, data, width = int(tree.nodes.actor[node]), int(tree.nodes.data[node]), int(tree.nodes.width[node])
        actor = TERMINAL if state.is_terminal() else CHANCE if state.is_chance_node() else state.current_player()
        same(state, "actor is", who, actor, who == actor)
        if who == TERMINAL:
            returns = state.returns()
            same(state, "pay-offs are", payoffs[data], returns, _close(payoffs[data], returns))
            continue
        if who == CHANCE:
            ours, theirs = chance[data : data + width], [p for _, p in state.chance_outcomes()]
            same(state, "probabilities of chance are", ours, theirs, _close(ours, theirs))
            actions = [action for action, _ in state.chance_outcomes()]
        else:
            number, name = int(tree.node_infoset[node]), state.information_state_string()
            if number == len(places):  # first visits come in the order of the numbers
                places.append(_Place(state, match(state, tree.labels(node))))
                names.append(name)
            same(state, "information set is", names[number], name, names[number] == name)
            actions = places[number].actions
        steps = [(child, state.child(action)) for child, action in zip(tree.children(node), actions, strict=True)]
        work.extend(reversed(steps))
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(
            f"{tree.name}: OpenSpiel gives several information sets the name {twice!r}, and its policies go by name"
        )
    return places


def _close(ours: list[float], theirs: list[float]) -> bool:
    return len(ours) == len(theirs) and all(abs(a - b) <= 1e-9 for a, b in zip(ours, theirs, strict=True))
