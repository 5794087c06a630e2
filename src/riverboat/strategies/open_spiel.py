"""Convert strategies to OpenSpiel policies and back.

Trees of `open_spiel:` games are converted directly. Some built-in games are also in OpenSpiel. For those, both trees
are traversed in step, and every payoff, chance probability and information set is compared: a difference in the rules
raises an error and never gives a wrong policy.

Games with simultaneous actions are turn-based here, and so is the game of the policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.formats.open_spiel_games import PREFIX, import_pyspiel, load_open_spiel_game, open_spiel_errors
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.small.multiplayer_poker import MultiplayerPoker
from riverboat.games.small.poker import OneCardPoker, kuhn, leduc
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import to_history_tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

CONVERTIBLE = "open_spiel:NAME(...), kuhn and leduc (limit, or no-limit with menu=*), bluff:1,1"

LabelMap: TypeAlias = Callable[[tuple[str, ...]], tuple[str, ...]]  # our action labels -> OpenSpiel's


def _kuhn_labels(moves: tuple[str, ...]) -> tuple[str, ...]:
    """Map Kuhn labels: fold and check are `Pass`, call and bet are `Bet`."""
    facing = "f" in moves
    return tuple({"f": "Pass", "c": "Bet" if facing else "Pass", "r": "Bet"}.get(move, move) for move in moves)


def _leduc_labels(moves: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({"f": "Fold", "c": "Call", "r": "Raise"}.get(move, move) for move in moves)


def _universal_poker_labels(moves: tuple[str, ...]) -> tuple[str, ...]:
    """Map labels of universal poker, where bets name the player's total: `r7` is `Bet7`."""
    return tuple({"f": "Fold", "c": "Call"}.get(move, f"Bet{move[1:]}") for move in moves)


def _liars_dice_labels(moves: tuple[str, ...]) -> tuple[str, ...]:
    """Map labels of Bluff, where the star is face 6."""
    return tuple("Liar" if move == "bluff" else move.replace("*", "6") for move in moves)


# Chance needs no map: both sides list the remaining cards (faces) from low to high.
_LABEL_MAPS: dict[tuple[str, str], LabelMap] = {
    ("kuhn", "kuhn_poker"): _kuhn_labels,
    ("kuhn", "python_kuhn_poker"): _kuhn_labels,
    ("kuhn", "universal_poker"): _universal_poker_labels,
    ("leduc", "leduc_poker"): _leduc_labels,
    ("leduc", "universal_poker"): _universal_poker_labels,
    ("bluff:1,1", "liars_dice"): _liars_dice_labels,
}


class _InfosetLocation(NamedTuple):
    """OpenSpiel's state at the first history of one of our information sets, and its numbers of our actions."""

    state: Any  # pyspiel.State
    actions: list[int]  # OpenSpiel's action numbers, in the order of our actions


def to_open_spiel(strategy: Strategy) -> Any:
    """Convert a strategy to an `open_spiel.python.policy.TabularPolicy`; its `game` is OpenSpiel's game."""
    game = _open_spiel_game(strategy.tree)
    from open_spiel.python.policy import TabularPolicy

    translate = _label_map(strategy.tree, game)
    tree = to_history_tree(strategy.tree)
    table = strategy.probabilities if tree is strategy.tree else strategy.probabilities[tree.origin]
    locations = _match_trees(tree, game, translate)
    # Built from all states of the game, so that rows have OpenSpiel's standard numbering.
    policy = TabularPolicy(game)
    for location, offset, width in zip(locations, tree.offsets, tree.action_counts, strict=True):
        row = policy.action_probability_array[policy.state_index(location.state)]
        row[:] = 0.0
        row[location.actions] = table[offset : offset + width]
    return policy


def from_open_spiel(tree: Tree, policy: Any) -> Strategy:
    """Convert an OpenSpiel policy to a strategy for `tree`, through its `action_probabilities(state)`."""
    game = getattr(policy, "game", None) or _open_spiel_game(tree)  # policies of the C++ library have no `game`
    translate = _label_map(tree, game)
    unrolled = to_history_tree(tree)
    table = np.empty(unrolled.table_size)
    locations = _match_trees(unrolled, game, translate)
    for location, offset, width in zip(locations, unrolled.offsets, unrolled.action_counts, strict=True):
        table[offset : offset + width] = _policy_row(tree, policy, location)
    provenance = {"method": "open_spiel", "policy": type(policy).__name__}
    if unrolled is tree:
        return Strategy(tree, table, provenance)
    public = Strategy.uniform(tree).probabilities.copy()  # also has rows for impossible hands
    public[unrolled.origin] = table
    return Strategy(tree, public, provenance)


def _policy_row(tree: Tree, policy: Any, location: _InfosetLocation) -> Array:
    where = f"{tree.name}: the policy at {location.state.information_state_string()!r}"
    try:
        probabilities = policy.action_probabilities(location.state)
    except KeyError:
        raise InputError(f"{where} is missing; give a policy for all players and states") from None
    row = np.array([float(probabilities.get(action, 0.0)) for action in location.actions])
    if not (row.min() >= 0 and abs(row.sum() - 1) <= 1e-6):
        raise InputError(f"{where} has probabilities {row.tolist()}, which do not sum to one over the legal actions")
    return row


def _open_spiel_game(tree: Tree) -> Any:
    """Return the pyspiel game that should have the rules of a tree; `_match_trees` verifies it."""
    pyspiel = import_pyspiel()
    if tree.name.startswith(PREFIX):
        return load_open_spiel_game(tree.name.removeprefix(PREFIX)).game
    game = tree.game if isinstance(tree, PublicTree) else None
    if isinstance(game, OneCardPoker) and _game_rules(game) not in (_game_rules(kuhn()), _game_rules(leduc())):
        with open_spiel_errors(f"{tree.name} as OpenSpiel's universal_poker"):
            return pyspiel.load_game("universal_poker", _universal_poker_parameters(game))
    # An unrolled tree does not know its game: try the standard rules; `_match_trees` checks them.
    standard = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "bluff:1,1": "liars_dice"}
    if tree.players > 2:
        suffix = f":players={tree.players}"
        standard = {f"kuhn{suffix}": f"kuhn_poker(players={tree.players})",
                 f"leduc{suffix}": f"leduc_poker(players={tree.players},suit_isomorphism=True)"}  # fmt: skip
    if tree.name not in standard:
        raise InputError(f"{tree.name} cannot be converted; these games can: {CONVERTIBLE}")
    return pyspiel.load_game(standard[tree.name])


def _game_rules(game: OneCardPoker | MultiplayerPoker) -> tuple[object, ...]:
    return game.ranks, game.suits, game.rounds, game.rules


def _universal_poker_parameters(game: OneCardPoker) -> dict[str, str | int]:
    """Return the parameters of OpenSpiel's universal_poker for Kuhn and Leduc with other cards or stakes."""
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


def _label_map(tree: Tree, game: Any) -> LabelMap | None:
    """Return the map from our labels to OpenSpiel's; None if both list the same actions in the same order."""
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
        if (name, kind.short_name) in _LABEL_MAPS:
            return _LABEL_MAPS[name, kind.short_name]
    raise InputError(f"{tree.name} cannot be converted to or from {game}; these games can: {CONVERTIBLE}")


def _match_trees(tree: HistoryTree, game: Any, translate: LabelMap | None) -> list[_InfosetLocation]:
    """Traverse both trees in lockstep, check that they agree, and locate each of our information sets, by its index."""
    payoffs, chance = tree.payoffs.tolist(), tree.chance.tolist()
    locations: list[_InfosetLocation] = []
    names: list[str] = []  # OpenSpiel's names, by our index

    def same(state: Any, property_name: str, ours: object, theirs: object, agree: bool) -> None:
        if not agree:
            raise InputError(
                f"{tree.name} is not OpenSpiel's {game}: after {state.history()} the {property_name} "
                f"{ours!r} here and {theirs!r} there"
            )

    def match(state: Any, moves: tuple[str, ...]) -> list[int]:
        """Return OpenSpiel's numbers of the actions `moves`, in our order; raise `InputError` if the actions differ."""
        legal: list[int] = state.legal_actions()
        player = state.current_player()
        labels = [state.action_to_string(player, action).removeprefix(f"player={player} move=") for action in legal]
        wanted = translate(moves) if translate else labels
        same(state, "moves are", moves, labels, len(moves) == len(labels) and sorted(wanted) == sorted(labels))
        return [legal[labels.index(label)] for label in wanted] if translate else legal

    stack = [(0, game.new_initial_state())]
    while stack:
        node, state = stack.pop()
        our_actor, data, width = int(tree.nodes.actor[node]), int(tree.nodes.data[node]), int(tree.nodes.width[node])
        actor = TERMINAL if state.is_terminal() else CHANCE if state.is_chance_node() else state.current_player()
        same(state, "actor is", our_actor, actor, our_actor == actor)
        if our_actor == TERMINAL:
            returns = state.returns()
            same(state, "payoffs are", payoffs[data], returns, _all_close(payoffs[data], returns))
            continue
        if our_actor == CHANCE:
            ours, theirs = chance[data : data + width], [p for _, p in state.chance_outcomes()]
            same(state, "probabilities of chance are", ours, theirs, _all_close(ours, theirs))
            actions = [action for action, _ in state.chance_outcomes()]
        else:
            index, name = int(tree.node_infoset[node]), state.information_state_string()
            if index == len(locations):  # first visits are in the order of the indices
                locations.append(_InfosetLocation(state, match(state, tree.labels(node))))
                names.append(name)
            same(state, "information set is", names[index], name, names[index] == name)
            actions = locations[index].actions
        steps = [(child, state.child(action)) for child, action in zip(tree.children(node), actions, strict=True)]
        stack.extend(reversed(steps))
    if len(set(names)) < len(names):
        duplicate = Counter(names).most_common(1)[0][0]
        raise InputError(
            f"{tree.name}: OpenSpiel gives several information sets the name {duplicate!r}, but policies go by name"
        )
    return locations


def _all_close(ours: list[float], theirs: list[float]) -> bool:
    return len(ours) == len(theirs) and all(abs(a - b) <= 1e-9 for a, b in zip(ours, theirs, strict=True))
