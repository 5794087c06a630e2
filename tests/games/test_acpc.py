"""ACPC game files and betting: by hand, and against pokerkit on random lines."""

from __future__ import annotations

import random
from dataclasses import replace

import pokerkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.cards.deck import FULL_DECK, card_name
from riverboat.cards.ranking import rank
from riverboat.core.errors import GameFileError, InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.betting_tree import build_betting_tree
from riverboat.games.holdem.betting import BettingState, split_line
from riverboat.games.holdem.rules import PokerRules, Rake, format_game, parse_game, read_game, shipped_games

NOLIMIT = read_game("nolimit-200bb")
LIMIT = read_game("limit")


# --- files ---


@pytest.mark.parametrize("name", shipped_games())
def test_shipped_games_round_trip(name: str) -> None:
    rules = read_game(name)
    assert parse_game(format_game(rules)) == rules
    assert rules.name == name


def test_shipped_games() -> None:
    """The first two are the game files of the ACPC server."""
    assert replace(NOLIMIT, stacks=(10_000, 10_000)) == read_game("nolimit-100bb")
    assert (NOLIMIT.blinds, NOLIMIT.stacks, NOLIMIT.first) == ((100, 50), (20_000, 20_000), (1, 0, 0, 0))
    assert (NOLIMIT.limit, NOLIMIT.most_raises, NOLIMIT.big_blind) == (False, None, 100)
    assert (NOLIMIT.board, NOLIMIT.board_sizes, NOLIMIT.deck) == ((0, 3, 1, 1), (0, 3, 4, 5), FULL_DECK)
    assert (LIMIT.limit, LIMIT.raise_sizes, LIMIT.most_raises) == (True, (10, 10, 20, 20), (3, 4, 4, 4))
    leduc = read_game("leduc")
    assert [card_name(int(c)) for c in leduc.deck.cards] == ["Qh", "Qs", "Kh", "Ks", "Ah", "As"]
    assert (read_game("bench-3x20").deck.num_hands, read_game("bench-2x52").deck.num_hands) == (190, 1326)


def test_rules_from_parameters() -> None:
    small = PokerRules(blinds=(2, 1), stacks=(20, 20), board=(0, 3), ranks=5)
    assert small.first == (1, 0)
    assert (small.streets, len(small.deck.cards)) == (("preflop", "flop"), 20)
    assert PokerRules(blinds=(1, 1), stacks=(13, 13), board=(0, 1), hole=1, ranks=3, suits=2).first == (0, 0)
    assert PokerRules(stacks=(20_000, 20_000)) == NOLIMIT


@given(
    st.builds(
        dict,
        stacks=st.tuples(st.integers(11, 500), st.integers(11, 500)),
        blinds=st.tuples(st.integers(1, 10), st.integers(0, 10)),
        board=st.sampled_from([(0,), (0, 3), (0, 3, 1), (1, 3, 1, 0)]),
        ranks=st.integers(4, 13),
        suits=st.integers(3, 4),
        hole=st.integers(1, 2),
    ),
    st.none() | st.integers(0, 9),
    st.booleans(),
)
def test_rules_round_trip(given_: dict[str, object], most: int | None, limit: bool) -> None:
    rounds = len(given_["board"])  # type: ignore[arg-type]
    if limit:
        given_ |= {"limit": True, "raise_sizes": (3,) * rounds, "most_raises": (most or 0,) * rounds}
    elif most is not None:
        given_["most_raises"] = (most,) * rounds
    rules = PokerRules(**given_)  # type: ignore[arg-type]
    assert parse_game(str(rules)) == rules


def test_comments_case_and_spaces(tmp_path) -> None:
    text = format_game(NOLIMIT).upper().replace("NUMBOARDCARDS = ", "NumBoardCards=") + "\nanything after the end"
    path = tmp_path / "mine.game"
    path.write_text("# a comment\n" + text.replace("NOLIMIT", "NOLIMIT   # no end\n\n"))
    assert read_game(path) == NOLIMIT
    assert read_game(path).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("numPlayers = 2", "numPlayers = 3", ("line 3", "numPlayers = 3")),
        ("numRanks = 13", "numRank = 13", ("line 9", "'numRank'", "'numRanks'")),
        ("blind = 100 50", "blind = 100", ("line 6", "blind", "1", "2")),
        ("blind = 100 50", "blind = 100 x", ("line 6", "'100 x'")),
        ("numSuits = 4", "numSuits = 4\nnumsuits = 3", ("line 9", "numSuits", "line 8")),
        ("nolimit", "nolimit\nlimit", ("line 3", "'limit'", "nolimit")),
        ("nolimit\n", "", ("limit", "nolimit")),
        ("nolimit", "limit", ("raiseSize", "maxRaises")),
        ("stack = 20000 20000\n", "", ("stack",)),
        ("20000 20000", "100 20000", ("stacks=(100, 20000)", "big blind of 100")),
        ("blind = 100 50", "blind = 0 0", ("blinds=(0, 0)",)),
        ("firstPlayer = 2", "firstPlayer = 3", ("first=(2, 0, 0, 0)",)),
        ("numRounds = 4", "numRounds = 9", ("line 7", "firstPlayer", "9")),
        ("numRanks = 13", "numRanks = 2", ("9 cards",)),
        ("numRanks = 13", "numRanks = 14", ("14 ranks",)),
        ("numHoleCards = 2", "numHoleCards = 4", ("4 hole and 5 board",)),
        ("END GAMEDEF", "rake = 5\nEND GAMEDEF", ("rake rate 5", "0.05")),
        ("END GAMEDEF", "rake = 0.05 -1\nEND GAMEDEF", ("rake cap -1",)),
        ("END GAMEDEF", "rake = some\nEND GAMEDEF", ("line 12", "rake = 'some'")),
        ("END GAMEDEF", "ante = 0.5\nEND GAMEDEF", ("line 12", "ante = '0.5'")),
        ("END GAMEDEF", "", ("END GAMEDEF",)),
        ("GAMEDEF\nnolimit", "nolimit", ("line 1", "GAMEDEF")),
    ],
)
def test_invalid_files(old: str, new: str, words: tuple[str, ...]) -> None:
    text = format_game(NOLIMIT)
    assert old in text
    with pytest.raises(InputError) as caught:
        parse_game(text.replace(old, new), where="x.game")
    for word in ("x.game", *words):
        assert word in str(caught.value)


def test_extensions_are_written_only_if_needed() -> None:
    for rules in (NOLIMIT, LIMIT):
        assert not {"ante", "pot", "leastBet", "rake"} & {
            line.partition(" ")[0] for line in format_game(rules).splitlines()
        }
    more = replace(NOLIMIT, ante=3, pot=40, least_bet=7, rake=Rake(0.05, 2.5))
    text = format_game(more)
    assert text.splitlines()[-5:-1] == ["ante = 3", "pot = 40", "leastBet = 7", "rake = 0.05 2.5"]
    assert parse_game(text) == more
    assert parse_game(format_game(replace(more, rake=Rake(0.1)))).rake == Rake(0.1)
    state = BettingState.start(more)
    assert (state.pot, state.spent, state.committed_before_street) == (40 + 103 + 53, (103, 53), 3)
    assert state.raise_range() == (110, 20_000)
    called = BettingState.from_line(more, "cc/cc/cc/cc")  # a pot of 246, of which the house takes 2.5
    assert called.payoffs() == ((140.5, -103.0), (18.75, 18.75), (-103.0, 140.5))
    assert called.payoffs((103, 103)) == ((243.5, 0.0), (121.75, 121.75), (0.0, 243.5))


def test_unknown_names(tmp_path) -> None:
    with pytest.raises(InputError, match=r"'nolimit-20bb'.*'nolimit-200bb'.*FILE\.game"):
        read_game("nolimit-20bb")
    with pytest.raises(InputError, match=r"no\.game"):
        read_game(tmp_path / "no.game")
    assert issubclass(GameFileError, InputError)


@pytest.mark.parametrize(
    ("given_", "word"),
    [
        ({}, "stacks"),
        ({"stacks": (200, 200), "raise_sizes": (1, 1, 1, 1)}, "raise_sizes="),
        ({"limit": True}, "raise_sizes"),
        ({"limit": True, "raise_sizes": (1,), "most_raises": (1,)}, r"raise_sizes=\(1,\).* 4 "),
        ({"limit": True, "raise_sizes": (0,) * 4, "most_raises": (1,) * 4}, "raise_sizes="),
        ({"stacks": (200, 200), "most_raises": (-1,) * 4}, "most_raises="),
        ({"stacks": (2**31, 2**31)}, "stacks=.*1,073,741,824"),
        ({"stacks": (200, 200), "board": ()}, "0 rounds"),
        ({"stacks": (200, 200), "ante": -1}, "ante=-1"),
        ({"stacks": (200, 200), "ante": 100}, "big blind of 100 and the ante of 100"),
        ({"stacks": (200, 200), "pot": -1}, "pot=-1"),
        ({"stacks": (200, 200), "least_bet": 0}, "least_bet=0"),
        ({"stacks": (200, 200), "blinds": (0, 0)}, r"blinds=\(0, 0\)"),
    ],
)
def test_invalid_parameters(given_: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        PokerRules(**given_)  # type: ignore[arg-type]


# --- betting ---


@pytest.mark.parametrize(
    ("line", "actor", "spent", "span"),
    [
        ("", 1, (100, 50), (200, 20_000)),
        ("c", 0, (100, 100), (200, 20_000)),
        ("r300", 0, (100, 300), (500, 20_000)),
        ("r300r900", 1, (900, 300), (1500, 20_000)),
        ("r300r20000", 1, (20_000, 300), None),
        ("cc", CHANCE, (100, 100), None),
        ("cc/", 0, (100, 100), (200, 20_000)),
        ("cc/r250", 1, (250, 100), (400, 20_000)),
        ("r19900", 0, (100, 19_900), (20_000, 20_000)),  # all-in, less than a minimum raise
        ("r20000c", CHANCE, (20_000, 20_000), None),
        ("r20000c///", TERMINAL, (20_000, 20_000), None),
        ("f", TERMINAL, (100, 50), None),
        # The two states of the protocol's specification.
        ("cc/r250c/", 0, (250, 250), (350, 20_000)),
        ("r300r900c/r1800r3600r9000c/r20000c/", TERMINAL, (20_000, 20_000), None),
    ],
)
def test_no_limit_lines(line: str, actor: int, spent: tuple[int, int], span: tuple[int, int] | None) -> None:
    state = BettingState.from_line(NOLIMIT, line)
    assert (state.actor, state.spent, state.raise_range(), state.line) == (actor, spent, span, line)
    assert state.pot == sum(spent)
    assert state.behind == (20_000 - spent[0], 20_000 - spent[1])
    if span is not None:
        assert all(state.find_action(f"r{total}") is not None for total in span)
        assert not any(state.find_action(move) is not None for move in (f"r{span[0] - 1}", f"r{span[1] + 1}", "r"))


@pytest.mark.parametrize(
    ("rules", "line", "move", "message"),
    [
        (NOLIMIT, "cr200c/", "r250", "illegal action 'r250' at 'cr200c/': raise to 300-20000, or 'c'"),
        (NOLIMIT, "r300", "r400", "illegal action 'r400' at 'r300': raise to 500-20000, or 'c', 'f'"),
        (NOLIMIT, "r300", "b400", "illegal action 'b400' at 'r300'"),
        (NOLIMIT, "r300", "r0500", "illegal action 'r0500' at 'r300'"),
        (NOLIMIT, "r19900", "r19950", "'r20000', or 'c', 'f'"),
        (NOLIMIT, "cc/", "f", "raise to 200-20000, or 'c'"),
        (NOLIMIT, "r20000", "r20001", "illegal action 'r20001' at 'r20000': 'c', 'f'"),
        (NOLIMIT, "r20000c", "c", "flop"),
        (NOLIMIT, "r300f", "c", "illegal action 'c' at 'r300f'"),
        (LIMIT, "rrr", "r", "illegal action 'r' at 'rrr': 'c', 'f'"),
        (LIMIT, "cc/", "r20", "illegal action 'r20' at 'cc/': 'r', or 'c'"),
    ],
)
def test_illegal_actions(rules: PokerRules, line: str, move: str, message: str) -> None:
    state = BettingState.from_line(rules, line)
    assert state.find_action(move) is None
    with pytest.raises(InputError) as caught:
        state.apply_action(state.parse_action(move))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cx", "'x' (letter 2)"),
        ("c/", "at 'c': raise to 200-20000, or 'c'"),
        ("ccc", "illegal action 'c' at 'cc': the flop"),
        ("f/", "'f/': no round is dealt at 'f'"),
    ],
)
def test_invalid_lines(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        BettingState.from_line(NOLIMIT, line)
    assert message in str(caught.value)


def test_splitting_a_line() -> None:
    assert list(split_line("cr300c/r/f")) == ["c", "r300", "c", "/", "r", "/", "f"]


def test_payoffs() -> None:
    assert BettingState.from_line(NOLIMIT, "f").payoffs() == ((50.0, -50.0),) * 3
    assert BettingState.from_line(NOLIMIT, "r300f").payoffs() == ((-100.0, 100.0),) * 3
    assert BettingState.from_line(NOLIMIT, "r300c/cc/cc/cc").payoffs() == ((300.0, -300.0), (0.0, 0.0), (-300.0, 300.0))


def test_unequal_stacks() -> None:
    """Uncalled chips are returned."""
    rules = replace(NOLIMIT, stacks=(1000, 700))
    state = BettingState.from_line(rules, "cr1000")
    assert (state.to_call, state.raise_range(), state.legal_actions()) == (600, None, (-1, 0))
    state = state.apply_action(state.parse_action("c"))
    assert (state.actor, state.spent, state.stake, state.payoffs()[0]) == (CHANCE, (1000, 700), 700, (700.0, -700.0))
    assert BettingState.from_line(rules, "cr1000c///").actor == TERMINAL
    assert BettingState.from_line(rules, "r700").raise_range() is None


def test_a_cap_on_raises_in_no_limit() -> None:
    rules = read_game("bench-2x52")
    assert BettingState.from_line(rules, "r6").legal_actions() == (-1, 0)
    assert BettingState.from_line(rules, "r6c/").raise_range() == (8, 162)


def test_limit_with_stacks_that_run_out() -> None:
    rules = replace(LIMIT, stacks=(35, 35))
    state = BettingState.from_line(rules, "rr")
    assert (state.spent, state.raise_range()) == ((30, 20), (35, 35))
    assert state.apply_action(state.parse_action("r")).spent == (30, 35)
    assert state.apply_action(state.parse_action("r")).legal_actions() == (-1, 0)
    assert BettingState.from_line(rules, "rrrc///").actor == TERMINAL


@pytest.mark.parametrize(("name", "decisions"), [("limit", [8, 70, 630, 5670]), ("leduc", [6, 30]), ("kuhn", [4])])
def test_betting_states_make_a_tree(name: str, decisions: list[int]) -> None:
    """Limit hold'em: 7 continuations before the flop, then 10 nodes and 9 continuations (Johanson 2013). Leduc: 6, 5 × 6."""
    tree = build_betting_tree(BettingState.start(read_game(name)), name)
    assert [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in range(len(decisions))] == decisions


# --- comparison with pokerkit ---

AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
    pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    pokerkit.Automation.HAND_KILLING,
    pokerkit.Automation.CHIPS_PUSHING,
    pokerkit.Automation.CHIPS_PULLING,
    pokerkit.Automation.RUNOUT_COUNT_SELECTION,
)


def theirs(rules: PokerRules) -> pokerkit.State:
    """Return the same game in pokerkit, which also gives its first seat the big blind heads-up."""
    assert rules.stacks is not None
    streets = tuple(
        pokerkit.Street(
            card_burning_status=street > 0,
            hole_dealing_statuses=(False,) * rules.hole if street == 0 else (),
            board_dealing_count=rules.board[street],
            draw_status=False,
            opening=pokerkit.Opening.POSITION,
            min_completion_betting_or_raising_amount=rules.raise_sizes[street]
            if rules.limit
            else rules.compact.least_bet,
            max_completion_betting_or_raising_count=None if rules.most_raises is None else rules.most_raises[street],
        )
        for street in range(rules.rounds)
    )
    structure = pokerkit.BettingStructure
    return pokerkit.State(
        AUTOMATIONS,
        pokerkit.Deck.STANDARD,
        (pokerkit.StandardHighHand,),
        streets,
        structure.FIXED_LIMIT if rules.limit else structure.NO_LIMIT,
        True,
        rules.ante,
        (rules.blinds[1], rules.blinds[0]),
        0,
        rules.stacks,
        2,
        rake=lambda pot, _: (int(rules.rake.amount(pot)), pot - int(rules.rake.amount(pot))),
    )


def compare(mine: BettingState, other: pokerkit.State) -> None:
    """Compare turn, chips and legal actions."""
    assert other.actor_index == mine.turn
    assert other.total_pot_amount == mine.pot
    assert tuple(other.stacks) == mine.behind
    assert other.can_fold() == mine.is_legal(-1)
    assert other.checking_or_calling_amount == mine.to_call
    span = mine.raise_range()
    assert other.can_complete_bet_or_raise_to() == (span is not None)
    if span is not None:
        assert other.min_completion_betting_or_raising_to_amount + mine.committed_before_street == span.least
        assert other.max_completion_betting_or_raising_to_amount + mine.committed_before_street == span.most
        assert not other.can_complete_bet_or_raise_to(span.least - 1 - mine.committed_before_street)
        assert not other.can_complete_bet_or_raise_to(span.most + 1 - mine.committed_before_street)


def choose(state: BettingState, dice: random.Random) -> str:
    """Choose an action, mostly small, so that lines are long, sometimes a short all-in."""
    span = state.raise_range()
    roll = dice.random()
    if span is None or roll < 0.5:
        return "f" if state.is_legal(-1) and roll < 0.05 else "c"
    if state.rules.limit:
        return "r"
    top = min(span.most, span.least + 3 * state.rules.big_blind)
    total = span.least if roll < 0.6 else span.most if roll > 0.97 else dice.randint(span.least, top)
    return f"r{total}"


def play_beside(rules: PokerRules, dice: random.Random) -> BettingState:
    """Play one random line in both programs."""
    deck = [card_name(card) for card in dice.sample(range(52), 9)]
    hands, board = ("".join(deck[0:2]), "".join(deck[2:4])), deck[4:]
    other, state, dealt = theirs(rules), BettingState.start(rules), 0
    for hand in hands:
        other.deal_hole(hand)
    while state.actor != TERMINAL:
        if state.actor == CHANCE:
            state = state.next_street()
            count = rules.board[state.street]
            other.burn_card("??")
            other.deal_board("".join(board[dealt : dealt + count]))
            dealt += count
            continue
        compare(state, other)
        move = choose(state, dice)
        if move == "f":
            other.fold()
        elif move == "c":
            other.check_or_call()
        else:
            span = state.raise_range()
            assert span is not None
            total = span.least if rules.limit else int(move[1:])
            other.complete_bet_or_raise_to(total - state.committed_before_street)
        state = state.apply_action(state.parse_action(move))
    ranks = [rank(hand + "".join(board)) for hand in hands]
    outcome = 0 if ranks[0] > ranks[1] else 1 if ranks[0] == ranks[1] else 2
    assert not other.status
    if (
        state.showdown or not rules.rake.rate
    ):  # pokerkit takes no rake from a bet that is folded to, even after earlier calls
        halves = 0.5 if state.showdown and outcome == 1 else 0  # it has no halves of chips
        assert tuple(other.payoffs) == pytest.approx(state.payoffs()[outcome], abs=halves)
    assert BettingState.from_line(rules, state.line) == state
    return state


# Pokerkit does not count the big blind as a bet, so it allows one more raise before the flop than the ACPC.
PEER_LIMIT = replace(LIMIT, most_raises=(4, 4, 4, 4), stacks=(1000, 1000))


@pytest.mark.parametrize(
    ("rules", "hands"),
    [
        (replace(NOLIMIT, stacks=(900, 900)), 300),  # short: all-in raises below the minimum
        (NOLIMIT, 250),
        (replace(NOLIMIT, stacks=(5000, 5000), blinds=(75, 30)), 200),
        (PEER_LIMIT, 250),
    ],
    ids=["9bb", "200bb", "odd", "limit"],
)
def test_pokerkit_agrees_on_random_lines(rules: PokerRules, hands: int) -> None:
    dice = random.Random(20_07)
    ends = [play_beside(rules, dice) for _ in range(hands)]
    assert len({end.line for end in ends}) > hands // 2
    assert {end.showdown for end in ends} == {True, False}
    if not rules.limit:
        assert any(end.behind == (0, 0) for end in ends)


@st.composite
def any_rules(draw: st.DrawFn) -> PokerRules:
    """Draw stacks, blinds, antes, caps and rakes of all kinds."""
    big, ante, limit = draw(st.integers(2, 40)), draw(st.sampled_from([0, 0, 1, 7])), draw(st.booleans())
    stack = st.integers(big + ante + 1, draw(st.sampled_from([3, 20, 200])) * big + ante + 1)
    caps = st.tuples(*[st.integers(1, 4)] * 4)
    return PokerRules(
        limit=limit,
        blinds=(big, draw(st.integers(1, big - 1))),
        first=(1, 0, 0, 0),
        ante=ante,
        stacks=(draw(stack), draw(stack)),
        raise_sizes=draw(st.tuples(*[st.integers(big, 3 * big)] * 4)) if limit else (),
        most_raises=draw(caps) if limit else draw(st.none() | caps),
        least_bet=None if limit else draw(st.none() | st.just(big)),
        rake=draw(st.sampled_from([Rake(), Rake(0.5, 3)])),
    )


@settings(max_examples=60, deadline=None)
@given(any_rules(), st.integers(0, 2**30))
def test_pokerkit_agrees_on_random_rules(rules: PokerRules, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(4):
        end = play_beside(rules, dice)
        total = sum(end.payoffs()[0])
        assert total == pytest.approx(-rules.rake.amount(2 * end.stake))  # what is won is lost, less rake
    assert parse_game(format_game(rules)) == rules
