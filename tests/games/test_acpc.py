"""Games from ACPC files, and their betting: by hand, and beside pokerkit on random lines."""

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
from riverboat.games.boards.betting_tree import make
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.rules import Rake, Rules, parse_game, read_game, shipped, show_game

NOLIMIT = read_game("nolimit-200bb")
LIMIT = read_game("limit")


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_what_is_shown_is_read_again(name: str) -> None:
    rules = read_game(name)
    assert parse_game(show_game(rules)) == rules
    assert rules.name == name


def test_the_shipped_games_are_there() -> None:
    """Values of the first two: the game files of the ACPC server."""
    assert replace(NOLIMIT, stacks=(10_000, 10_000)) == read_game("nolimit-100bb")
    assert (NOLIMIT.blinds, NOLIMIT.stacks, NOLIMIT.first) == ((100, 50), (20_000, 20_000), (1, 0, 0, 0))
    assert (NOLIMIT.limit, NOLIMIT.most_raises, NOLIMIT.big_blind) == (False, None, 100)
    assert (NOLIMIT.board, NOLIMIT.board_sizes, NOLIMIT.deck) == ((0, 3, 1, 1), (0, 3, 4, 5), FULL_DECK)
    assert (LIMIT.limit, LIMIT.raise_sizes, LIMIT.most_raises) == (True, (10, 10, 20, 20), (3, 4, 4, 4))
    leduc = read_game("leduc")
    assert [card_name(int(c)) for c in leduc.deck.cards] == ["Qh", "Qs", "Kh", "Ks", "Ah", "As"]
    assert (read_game("bench-3x20").deck.hand_count, read_game("bench-2x52").deck.hand_count) == (190, 1326)


def test_rules_from_parameters() -> None:
    small = Rules(blinds=(2, 1), stacks=(20, 20), board=(0, 3), ranks=5)
    assert small.first == (1, 0)
    assert (small.streets, len(small.deck.cards)) == (("preflop", "flop"), 20)
    assert Rules(blinds=(1, 1), stacks=(13, 13), board=(0, 1), hole=1, ranks=3, suits=2).first == (0, 0)
    assert Rules(stacks=(20_000, 20_000)) == NOLIMIT


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
def test_any_rules_are_read_again(given_: dict[str, object], most: int | None, limit: bool) -> None:
    rounds = len(given_["board"])  # type: ignore[arg-type]
    if limit:
        given_ |= {"limit": True, "raise_sizes": (3,) * rounds, "most_raises": (most or 0,) * rounds}
    elif most is not None:
        given_["most_raises"] = (most,) * rounds
    rules = Rules(**given_)  # type: ignore[arg-type]
    assert parse_game(str(rules)) == rules


def test_files_are_read_as_people_write_them(tmp_path) -> None:
    text = show_game(NOLIMIT).upper().replace("NUMBOARDCARDS = ", "NumBoardCards=") + "\nanything after the end"
    path = tmp_path / "mine.game"
    path.write_text("# a comment\n" + text.replace("NOLIMIT", "NOLIMIT   # no end\n\n"))
    assert read_game(path) == NOLIMIT
    assert read_game(path).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("numPlayers = 2", "numPlayers = 3", ("line 3", "numPlayers = 3", "2 players")),
        ("numRanks = 13", "numRank = 13", ("line 9", "'numRank'", "did you mean 'numRanks'")),
        ("blind = 100 50", "blind = 100", ("line 6", "blind has 1 numbers: 2")),
        ("blind = 100 50", "blind = 100 x", ("'100 x'", "whole numbers")),
        ("numSuits = 4", "numSuits = 4\nnumsuits = 3", ("line 9", "twice", "line 8")),
        ("nolimit", "nolimit\nlimit", ("line 3", "already nolimit")),
        ("nolimit\n", "", ("neither limit nor nolimit",)),
        ("nolimit", "limit", ("no raiseSize", "a limit game needs")),
        ("stack = 20000 20000\n", "", ("no stack",)),
        ("20000 20000", "100 20000", ("stacks=(100, 20000)", "above the big blind of 100")),
        ("blind = 100 50", "blind = 0 0", ("blinds=(0, 0)", "above zero")),
        ("firstPlayer = 2", "firstPlayer = 3", ("first=(2, 0, 0, 0)", "seats are 0 and 1")),
        ("numRounds = 4", "numRounds = 9", ("numbers: 9 are needed",)),
        ("numRanks = 13", "numRanks = 2", ("9 cards are dealt",)),
        ("numRanks = 13", "numRanks = 14", ("at most 13",)),
        ("numHoleCards = 2", "numHoleCards = 4", ("at most 7",)),
        ("END GAMEDEF", "rake = 5\nEND GAMEDEF", ("rake rate 5", "such as 0.05")),
        ("END GAMEDEF", "rake = 0.05 -1\nEND GAMEDEF", ("rake cap -1",)),
        ("END GAMEDEF", "rake = some\nEND GAMEDEF", ("line 12", "rake = 'some': write numbers")),
        ("END GAMEDEF", "ante = 0.5\nEND GAMEDEF", ("ante = '0.5': write whole numbers",)),
        ("END GAMEDEF", "", ("no END GAMEDEF",)),
        ("GAMEDEF\nnolimit", "nolimit", ("line 1", "begins with GAMEDEF")),
    ],
)
def test_files_that_are_refused(old: str, new: str, words: tuple[str, ...]) -> None:
    text = show_game(NOLIMIT)
    assert old in text
    with pytest.raises(InputError) as caught:
        parse_game(text.replace(old, new), where="x.game")
    for word in ("x.game", *words):
        assert word in str(caught.value)


def test_entries_of_our_own_are_written_only_where_they_say_something() -> None:
    for rules in (NOLIMIT, LIMIT):
        assert not {"ante", "pot", "leastBet", "rake"} & {
            line.partition(" ")[0] for line in show_game(rules).splitlines()
        }
    more = replace(NOLIMIT, ante=3, pot=40, least_bet=7, rake=Rake(0.05, 2.5))
    text = show_game(more)
    assert text.splitlines()[-5:-1] == ["ante = 3", "pot = 40", "leastBet = 7", "rake = 0.05 2.5"]
    assert parse_game(text) == more
    assert parse_game(show_game(replace(more, rake=Rake(0.1)))).rake == Rake(0.1)
    state = Betting.start(more)
    assert (state.pot, state.spent, state.before) == (40 + 103 + 53, (103, 53), 3)
    assert state.raise_range() == (110, 20_000)
    called = Betting.from_line(more, "cc/cc/cc/cc")  # 246 in the middle, the house takes 2.5
    assert called.pay() == ((140.5, -103.0), (18.75, 18.75), (-103.0, 140.5))
    assert called.pay((103, 103)) == ((243.5, 0.0), (121.75, 121.75), (0.0, 243.5))


def test_names_that_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match=r"did you mean 'nolimit-200bb'\?.*FILE\.game"):
        read_game("nolimit-20bb")
    with pytest.raises(InputError, match="No such file"):
        read_game(tmp_path / "no.game")
    assert issubclass(GameFileError, InputError)


@pytest.mark.parametrize(
    ("given_", "word"),
    [
        ({}, "needs stacks"),
        ({"stacks": (200, 200), "raise_sizes": (1, 1, 1, 1)}, "belong in a menu"),
        ({"limit": True}, "needs raise_sizes"),
        ({"limit": True, "raise_sizes": (1,), "most_raises": (1,)}, "one for each of the 4 rounds"),
        ({"limit": True, "raise_sizes": (0,) * 4, "most_raises": (1,) * 4}, "above zero"),
        ({"stacks": (200, 200), "most_raises": (-1,) * 4}, "negative"),
        ({"stacks": (2**31, 2**31)}, "at most 1,073,741,824"),
        ({"stacks": (200, 200), "board": ()}, "0 rounds"),
        ({"stacks": (200, 200), "ante": -1}, "ante=-1"),
        ({"stacks": (200, 200), "ante": 100}, "above the big blind of 100 and the ante of 100"),
        ({"stacks": (200, 200), "pot": -1}, "pot=-1"),
        ({"stacks": (200, 200), "least_bet": 0}, "least_bet=0"),
        ({"stacks": (200, 200), "blinds": (0, 0)}, "one must be above zero"),
    ],
)
def test_parameters_that_are_refused(given_: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        Rules(**given_)  # type: ignore[arg-type]


# --- betting ----------------------------------------------------------------------------------


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
        ("r19900", 0, (100, 19_900), (20_000, 20_000)),  # all that is left, less than a minimum raise
        ("r20000c", CHANCE, (20_000, 20_000), None),
        ("r20000c///", TERMINAL, (20_000, 20_000), None),
        ("f", TERMINAL, (100, 50), None),
        # The two states that the protocol's specification shows.
        ("cc/r250c/", 0, (250, 250), (350, 20_000)),
        ("r300r900c/r1800r3600r9000c/r20000c/", TERMINAL, (20_000, 20_000), None),
    ],
)
def test_no_limit_lines(line: str, actor: int, spent: tuple[int, int], span: tuple[int, int] | None) -> None:
    state = Betting.from_line(NOLIMIT, line)
    assert (state.actor, state.spent, state.raise_range(), state.line) == (actor, spent, span, line)
    assert state.pot == sum(spent)
    assert state.behind == (20_000 - spent[0], 20_000 - spent[1])
    if span is not None:
        assert all(state.legal(f"r{total}") for total in span)
        assert not any(state.legal(move) for move in (f"r{span[0] - 1}", f"r{span[1] + 1}", "r"))


@pytest.mark.parametrize(
    ("rules", "line", "move", "message"),
    [
        (NOLIMIT, "cr200c/", "r250", "illegal action 'r250' at 'cr200c/': raise to 300-20000, or 'c'"),
        (NOLIMIT, "r300", "r400", "illegal action 'r400' at 'r300': raise to 500-20000, or 'c', 'f'"),
        (NOLIMIT, "r300", "b400", "illegal action 'b400' at 'r300'"),
        (NOLIMIT, "r300", "r0500", "illegal action 'r0500' at 'r300'"),
        (NOLIMIT, "r19900", "r19950", "'r20000', or 'c', 'f'"),
        (NOLIMIT, "cc/", "f", "raise to 200-20000, or 'c'"),
        (NOLIMIT, "r20000", "r20001", "'c', 'f' can be played, and nobody can raise"),
        (NOLIMIT, "r20000c", "c", "the flop is dealt there, written '/'"),
        (NOLIMIT, "r300f", "c", "the hand is over"),
        (LIMIT, "rrr", "r", "illegal action 'r' at 'rrr': 'c', 'f' can be played, and nobody can raise"),
        (LIMIT, "cc/", "r20", "illegal action 'r20' at 'cc/': 'r', or 'c'"),
    ],
)
def test_moves_that_are_refused(rules: Rules, line: str, move: str, message: str) -> None:
    state = Betting.from_line(rules, line)
    assert not state.legal(move)
    with pytest.raises(InputError) as caught:
        state.play(move)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cx", "'x' (letter 2) is no move"),
        ("c/", "no round is dealt at 'c': raise to 200-20000, or 'c'"),
        ("ccc", "illegal action 'c' at 'cc': the flop is dealt there"),
        ("f/", "no round is dealt at 'f': the hand is over"),
    ],
)
def test_lines_that_are_refused(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Betting.from_line(NOLIMIT, line)
    assert message in str(caught.value)


def test_steps_of_a_line() -> None:
    assert list(steps("cr300c/r/f")) == ["c", "r300", "c", "/", "r", "/", "f"]


def test_pay() -> None:
    assert Betting.from_line(NOLIMIT, "f").pay() == ((50.0, -50.0),) * 3
    assert Betting.from_line(NOLIMIT, "r300f").pay() == ((-100.0, 100.0),) * 3
    assert Betting.from_line(NOLIMIT, "r300c/cc/cc/cc").pay() == ((300.0, -300.0), (0.0, 0.0), (-300.0, 300.0))


def test_unequal_stacks() -> None:
    """What the other cannot call goes back."""
    rules = replace(NOLIMIT, stacks=(1000, 700))
    state = Betting.from_line(rules, "cr1000")
    assert (state.to_call, state.raise_range(), state.moves()) == (600, None, ("f", "c"))
    state = state.play("c")
    assert (state.actor, state.spent, state.stake, state.pay()[0]) == (CHANCE, (1000, 700), 700, (700.0, -700.0))
    assert Betting.from_line(rules, "cr1000c///").actor == TERMINAL
    assert Betting.from_line(rules, "r700").raise_range() is None


def test_a_cap_on_raises_in_no_limit() -> None:
    rules = read_game("bench-2x52")
    assert Betting.from_line(rules, "r6").moves() == ("f", "c")
    assert Betting.from_line(rules, "r6c/").raise_range() == (8, 162)


def test_limit_with_stacks_that_run_out() -> None:
    rules = replace(LIMIT, stacks=(35, 35))
    state = Betting.from_line(rules, "rr")
    assert (state.spent, state.raise_range()) == ((30, 20), (35, 35))
    assert state.play("r").spent == (30, 35)
    assert state.play("r").moves() == ("f", "c")
    assert Betting.from_line(rules, "rrrc///").actor == TERMINAL


@pytest.mark.parametrize(("name", "decisions"), [("limit", [8, 70, 630, 5670]), ("leduc", [6, 30]), ("kuhn", [4])])
def test_betting_states_make_a_tree(name: str, decisions: list[int]) -> None:
    """Limit hold'em: 7 continuations before the flop, then 10 nodes and 9 continuations (Johanson 2013). Leduc: 6, 5 × 6."""
    tree = make(Betting.start(read_game(name)), name)
    assert [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in range(len(decisions))] == decisions


# --- beside pokerkit --------------------------------------------------------------------------

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


def theirs(rules: Rules) -> pokerkit.State:
    """The same game; heads-up, pokerkit too gives its first seat the big blind."""
    assert rules.stacks is not None
    streets = tuple(
        pokerkit.Street(
            card_burning_status=street > 0,
            hole_dealing_statuses=(False,) * rules.hole if street == 0 else (),
            board_dealing_count=rules.board[street],
            draw_status=False,
            opening=pokerkit.Opening.POSITION,
            min_completion_betting_or_raising_amount=rules.raise_sizes[street] if rules.limit else rules.book.least_bet,
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
        rake=lambda pot, _: (int(rules.rake.of(pot)), pot - int(rules.rake.of(pot))),
    )


def compare(mine: Betting, other: pokerkit.State) -> None:
    """Whose turn, chips, what may be played."""
    assert other.actor_index == mine.turn
    assert other.total_pot_amount == mine.pot
    assert tuple(other.stacks) == mine.behind
    assert other.can_fold() == mine.legal("f")
    assert other.checking_or_calling_amount == mine.to_call
    span = mine.raise_range()
    assert other.can_complete_bet_or_raise_to() == (span is not None)
    if span is not None:
        assert other.min_completion_betting_or_raising_to_amount + mine.before == span.least
        assert other.max_completion_betting_or_raising_to_amount + mine.before == span.most
        assert not other.can_complete_bet_or_raise_to(span.least - 1 - mine.before)
        assert not other.can_complete_bet_or_raise_to(span.most + 1 - mine.before)


def choose(state: Betting, dice: random.Random) -> str:
    """A move, mostly small, so that lines are long, sometimes a short all-in."""
    span = state.raise_range()
    roll = dice.random()
    if span is None or roll < 0.5:
        return "f" if state.legal("f") and roll < 0.05 else "c"
    if state.rules.limit:
        return "r"
    top = min(span.most, span.least + 3 * state.rules.big_blind)
    total = span.least if roll < 0.6 else span.most if roll > 0.97 else dice.randint(span.least, top)
    return f"r{total}"


def play_beside(rules: Rules, dice: random.Random) -> Betting:
    """Play one random line in both programs."""
    deck = [card_name(card) for card in dice.sample(range(52), 9)]
    hands, board = ("".join(deck[0:2]), "".join(deck[2:4])), deck[4:]
    other, state, dealt = theirs(rules), Betting.start(rules), 0
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
            other.complete_bet_or_raise_to(total - state.before)
        state = state.play(move)
    ranks = [rank(hand + "".join(board)) for hand in hands]
    outcome = 0 if ranks[0] > ranks[1] else 1 if ranks[0] == ranks[1] else 2
    assert not other.status
    if (
        state.showdown or not rules.rake.rate
    ):  # of a bet that is folded to, pokerkit takes no rake, whoever has called before
        halves = 0.5 if state.showdown and outcome == 1 else 0  # it has no halves of chips
        assert tuple(other.payoffs) == pytest.approx(state.pay()[outcome], abs=halves)
    assert Betting.from_line(rules, state.line) == state
    return state


# pokerkit does not count the big blind as a bet, so it allows one raise more before the flop than the ACPC does.
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
def test_pokerkit_agrees_on_random_lines(rules: Rules, hands: int) -> None:
    dice = random.Random(20_07)
    ends = [play_beside(rules, dice) for _ in range(hands)]
    assert len({end.line for end in ends}) > hands // 2
    assert {end.showdown for end in ends} == {True, False}
    if not rules.limit:
        assert any(end.behind == (0, 0) for end in ends)


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Stacks, blinds, antes, caps and rakes of all kinds."""
    big, ante, limit = draw(st.integers(2, 40)), draw(st.sampled_from([0, 0, 1, 7])), draw(st.booleans())
    stack = st.integers(big + ante + 1, draw(st.sampled_from([3, 20, 200])) * big + ante + 1)
    caps = st.tuples(*[st.integers(1, 4)] * 4)
    return Rules(
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
def test_pokerkit_agrees_on_random_rules(rules: Rules, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(4):
        end = play_beside(rules, dice)
        total = sum(end.pay()[0])
        assert total == pytest.approx(-rules.rake.of(2 * end.stake))  # what is won is lost, less rake
    assert parse_game(show_game(rules)) == rules
