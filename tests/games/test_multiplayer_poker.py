"""Kuhn and Leduc poker for three players and more, compared with OpenSpiel's."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.small.multiplayer_poker import MultiplayerPoker
from riverboat.games.small.poker import OneCardPoker

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python import policy as policies  # noqa: E402

from riverboat.strategies.open_spiel import from_open_spiel  # noqa: E402

MOVES = {"f": "Fold", "c": "Call", "r": "Raise"}


@pytest.mark.parametrize("players", [3, 4])
def test_kuhn_agrees_with_open_spiel_at_every_history(players: int) -> None:
    """Both trees are traversed in step: actors, chance, actions, information sets, payoffs."""
    tree = rb.compile_game(registry.game_from_spec(f"kuhn:players={players}"))
    theirs = policies.UniformRandomPolicy(pyspiel.load_game(f"kuhn_poker(players={players})"))
    assert len(from_open_spiel(tree, theirs)) == tree.infoset_count == {3: 48, 4: 160}[players]


@pytest.mark.slow
def test_leduc_agrees_with_open_spiel_at_every_history() -> None:
    tree = rb.compile_game(registry.game_from_spec("leduc:players=3"))
    theirs = policies.UniformRandomPolicy(pyspiel.load_game("leduc_poker(players=3,suit_isomorphism=True)"))
    assert len(from_open_spiel(tree, theirs)) == tree.infoset_count == 7428


@pytest.mark.parametrize("players", [3, 4])
def test_leduc_agrees_with_open_spiel_on_random_hands(players: int) -> None:
    """The same actors, actions and payoffs; ranks are dealt as often as their cards."""
    game, theirs = (
        registry.game_from_spec(f"leduc:players={players}"),
        pyspiel.load_game(f"leduc_poker(players={players})"),
    )
    assert isinstance(game, MultiplayerPoker)
    random = Random(players)
    for _ in range(200):
        mine: Any = game.root()
        other = theirs.new_initial_state()
        while not other.is_terminal():
            labels = list(mine.actions())
            if other.is_chance_node():
                assert mine.actor == CHANCE
                cards = [card for card, _ in other.chance_outcomes()]
                chances = dict.fromkeys(range(game.ranks), 0.0)
                for card, p in other.chance_outcomes():
                    chances[card // 2] += p
                assert mine.probabilities() == pytest.approx([p for p in chances.values() if p > 0])
                card = random.choice(cards)
                other.apply_action(card)
                mine = mine.child(labels.index(game.cards[card // 2]))
                continue
            assert mine.actor == other.current_player()
            legal = {other.action_to_string(mine.actor, a): a for a in other.legal_actions()}
            assert [MOVES[label] for label in labels] == sorted(legal, key=list(MOVES.values()).index)
            move = random.choice(labels)
            other.apply_action(legal[MOVES[move]])
            mine = mine.child(labels.index(move))
        assert mine.actor == TERMINAL
        assert list(mine.payoffs()) == pytest.approx(other.returns(), abs=1e-12)


def test_two_players_are_the_public_games() -> None:
    assert registry.game_from_spec("kuhn") == registry.game_from_spec("kuhn:players=2")
    assert isinstance(registry.game_from_spec("leduc:4,players=2"), OneCardPoker)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kuhn:players=1", "players=1: "),
        ("leduc:players=99", "players=99: "),
        ("kuhn:players=3,cards=2", "2 ranks x 1 suits: .*3 players"),
        ("leduc:players=3,ranks=3,suits=1", "3 ranks x 1 suits: .*4"),
        ("leduc:players=3,stack=9", "players=3: "),
        ("kuhn:players=3,suits=5", "suits=5: "),
        ("kuhn:players=3,cap=-1", "cap=-1"),
    ],
)
def test_invalid_options(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        registry.game_from_spec(spec)
