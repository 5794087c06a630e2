"""A hand while it is read from a site's history: events are collected in order, then checked and ordered.

`HandDraft.finish` accepts a hand only if every action is in turn, the betting is complete, no card is dealt twice and
the chips are conserved: bets + chips of the house = chips collected + rake.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from riverboat.core.errors import InputError
from riverboat.formats.sites.text import SCALE, SiteHandError
from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.table_hands import BOARD_SIZES, Table, TableHand, showdown_shares

MAX_PLAYERS = 10
MAX_IMPLIED_RAKE = 0.16  # share of the pot that rake and fees may take if the site writes no figure
MAX_IMPLIED_RAKE_BLINDS = 1  # or this many big blinds, for flat fees
Kind: TypeAlias = Literal["fold", "check", "call", "add", "to", "street"]

UNBALANCED = "amounts that do not add up"
INCOMPLETE = "the hand breaks off"
OUT_OF_TURN = "an action out of turn"
BAD_CARDS = "cards that cannot be dealt"
OTHER_GAME = "another game"
WRONG_WINNER = "the pot does not go to the best hand"


class HandDraft:
    """What a history says about one hand. Amounts are hundredths of the unit; players are named."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.number = self.time = self.table = self.currency = self.tournament = ""
        self.big_blind = 0
        self.button = -1
        self.cap = 0
        self.line = 0  # of the text, for messages
        self.seats: dict[str, int] = {}
        self.stacks: dict[str, int] = {}
        self.antes: dict[str, int] = {}
        self.dead: dict[str, int] = {}
        self.blinds: dict[str, int] = {}
        self.blind_kinds: set[str] = set()
        self.posts: dict[str, int] = {}
        self.out: set[str] = set()  # sit out
        self.dealt: set[str] = set()  # took part in any way
        self.events: list[tuple[Kind, str, int, int]] = []  # kind, player, amount, line
        self.all_in: set[str] = set()
        self.holes: dict[str, tuple[int, ...]] = {}
        self.hero = ""
        self.boards: list[list[int]] = [[]]
        self.uncalled: dict[str, int] = {}
        self.collected: dict[str, int] = {}
        self.wins_include_uncalled = False  # so that a win has the bet that nobody called
        self.wins_include_blind = False  # the same for the big blind when everybody folds to it
        self.rake: int | None = None
        self.pot: int | None = None
        self.added = 0
        self.totals: dict[str, int] = {}  # chips put in, where the site writes them
        self.net: dict[str, int] = {}  # chips won, where the site writes them

    def fail(self, reason: str, detail: str = "") -> SiteHandError:
        """Return an error at the current line."""
        return SiteHandError(reason, detail, self.line)

    # --- before the cards ---

    def seat(self, number: int, name: str, stack: int) -> None:
        """Add a player with a stack."""
        if name in self.seats or number in self.seats.values():
            raise self.fail("a seat twice", f"seat {number}, {name[:30]!r}")
        if len(self.seats) == MAX_PLAYERS:
            raise self.fail("too many players", f"more than {MAX_PLAYERS}")
        self.seats[name], self.stacks[name] = number, stack

    def known(self, name: str) -> str:
        """Return the name of a seated player; others raise an error."""
        if name not in self.seats:
            raise self.fail("a player without a seat", repr(name[:30]))
        self.dealt.add(name)
        return name

    def post_ante(self, name: str, chips: int) -> None:
        """Add an ante."""
        self.antes[self.known(name)] = self.antes.get(name, 0) + chips

    def post_dead(self, name: str, chips: int) -> None:
        """Add chips that do not count as a bet, such as a dead small blind."""
        self.dead[self.known(name)] = self.dead.get(name, 0) + chips

    def post_blind(self, name: str, chips: int, kind: str) -> None:
        """Add a live blind: `small`, `big`, `straddle` or `post`; a second small or big blind is a post."""
        name = self.known(name)
        if name in self.blinds:  # the same player posts again: a straddle replaces nothing, other posts are dead
            if kind == "straddle":
                self.blinds[name] += chips
            else:
                self.post_dead(name, chips)
            return
        if kind == "big" and not self.big_blind:
            self.big_blind = chips
        taken = kind in ("small", "big") and kind in self.blind_kinds
        if taken or kind == "post":
            self.posts[name] = self.posts.get(name, 0) + chips
            return
        self.blind_kinds.add(kind)
        self.blinds[name] = chips

    # --- actions ---

    def act(self, kind: Kind, name: str, chips: int = 0, *, all_in: bool = False) -> None:
        """Add an action: `add` puts chips in, `to` makes the total of the round."""
        name = self.known(name)
        self.events.append((kind, name, chips, self.line))
        if all_in:
            self.all_in.add(name)

    def street(self, cards: tuple[int, ...], run: int = 0, whole: bool = False) -> None:
        """Deal board cards: new ones, or the whole board. `run`: number of the board, from 0."""
        while len(self.boards) <= run:
            self.boards.append([])
        board = self.boards[run]
        if whole:
            if tuple(board) != cards[: len(board)]:
                raise self.fail(BAD_CARDS, "the board changes")
            board[:] = cards
        else:
            board += cards
        if run == 0:
            self.events.append(("street", "", len(board), self.line))

    def show(self, name: str, cards: tuple[int, ...], hero: bool = False) -> None:
        """Record hole cards; single cards are ignored."""
        name = self.known(name)
        if hero:
            self.hero = name
        if len(cards) > 2:
            raise self.fail(OTHER_GAME, f"{len(cards)} hole cards")
        if len(cards) == 2:
            if set(self.holes.get(name, cards)) != set(cards):
                raise self.fail(BAD_CARDS, f"{name[:30]!r} shows other cards than were dealt")
            self.holes[name] = cards

    def collect(self, name: str, chips: int) -> None:
        """Record chips from the pot."""
        self.collected[self.known(name)] = self.collected.get(name, 0) + chips

    def return_uncalled(self, name: str, chips: int) -> None:
        """Record a bet that nobody called."""
        self.uncalled[self.known(name)] = self.uncalled.get(name, 0) + chips

    # --- the end ---

    def finish(self) -> TableHand:
        """Return the hand, or raise SiteHandError with the reason why it cannot be accepted."""
        self.line = 0
        names = self._order()
        index = {name: k for k, name in enumerate(names)}
        if len(names) < 2:
            raise self.fail("fewer than two players", "the hand was cancelled, or nobody else was dealt in")
        if not self.collected:
            raise self.fail(INCOMPLETE, "nobody wins the pot")
        for name, chips in self.totals.items():
            if chips and not self._has_bet(name):
                raise self.fail(UNBALANCED, f"{name[:30]!r} puts in {_money(chips)} without an action")
        if not self.big_blind:
            raise self.fail(INCOMPLETE, "no big blind")
        hand = TableHand(
            names=names,
            stacks=tuple(self._stack(name) for name in names),
            blinds=tuple(self.blinds.get(name, 0) - self.posts.get(name, 0) for name in names),
            actions=(), big_blind=self.big_blind, holes=tuple(self.holes.get(name, ()) for name in names),
            boards=tuple(map(tuple, self.boards)), collected=(), rake=0,
            antes=tuple(self.antes.get(name, 0) + self.dead.get(name, 0) for name in names),
            added=self.added, hero=index.get(self.hero, -1), ante=max(self.antes.values(), default=0),
            seats=tuple(self.seats[name] for name in names), scale=SCALE, number=self.number, site=self.site,
            time=self.time, table=self.table, currency=self.currency, tournament=self.tournament,
        )  # fmt: skip
        table, actions = self._replay(hand, index)
        self._check_cards(hand, table)
        collected, rake = self._settle(names, table)
        self._check_winners(hand, table, collected, rake)
        return replace(hand, actions=tuple(actions), collected=collected, rake=rake)

    def _order(self) -> tuple[str, ...]:
        """Return the players dealt in, from the first one to act after the flop to the button."""
        names = [name for name in self.seats if name in self.dealt and not (name in self.out and not self._is_in(name))]
        if self.button < 0:
            raise self.fail(INCOMPLETE, "no button")
        names.sort(key=lambda name: ((self.seats[name] - self.button - 1) % 1000, self.seats[name]))
        for name in names:
            if self.stacks[name] <= 0:
                raise self.fail(UNBALANCED, f"{name[:30]!r} plays without chips")
        return tuple(names)

    def _is_in(self, name: str) -> bool:
        return name in self.collected or self._has_bet(name)

    def _has_bet(self, name: str) -> bool:
        """Whether a player posts or acts."""
        posts = self.antes, self.dead, self.blinds, self.posts
        return any(name in each for each in posts) or any(event[1] == name for event in self.events)

    def _stack(self, name: str) -> int:
        """Return the chips that a player may bet: in cap games those that it bet when it was all-in."""
        stack = min(self.stacks[name], self.cap) if self.cap else self.stacks[name]
        put = self.antes.get(name, 0) + self.dead.get(name, 0) + self._bets(name)
        if put > stack:
            if self.cap and put <= self.stacks[name]:
                return put
            raise self.fail(UNBALANCED, f"{name[:30]!r} bets {_money(put)} of {_money(self.stacks[name])}")
        return put if name in self.all_in else stack

    def _bets(self, name: str) -> int:
        """Return the chips that a player bet, with blinds and uncalled bets."""
        earlier, own = 0, self.blinds.get(name, 0) + self.posts.get(name, 0)
        for kind, who, chips, _ in self.events:
            if kind == "street":
                earlier, own = earlier + own, 0
            elif who == name and kind in ("add", "call"):
                own += chips
            elif who == name and kind == "to":
                own = chips
        return earlier + own

    def _replay(self, hand: TableHand, index: dict[str, int]) -> tuple[Table, list[tuple[int, int]]]:
        table, actions, dealt = Table(hand), [], 0
        for kind, name, chips, line in self.events:
            self.line = line
            if kind == "street":
                if table.actor >= 0:
                    raise self.fail(OUT_OF_TURN, f"cards are dealt before {hand.names[table.actor][:30]!r} acts")
                dealt = chips
                continue
            player = index[name]
            while table.actor < 0 and not table.finished:
                table.next_street()
            if player != table.actor:
                expected = (
                    f"it is {hand.names[table.actor][:30]!r}'s turn" if table.actor >= 0 else "the betting is over"
                )
                raise self.fail(OUT_OF_TURN, f"{name[:30]!r} acts, but {expected}")
            if dealt != BOARD_SIZES[table.street]:
                raise self.fail(
                    BAD_CARDS, f"{dealt} board cards on the {('preflop', 'flop', 'turn', 'river')[table.street]}"
                )
            action = self._action(kind, chips, table, player, name)
            try:
                table.play(player, action)
            except InputError as error:
                raise self.fail(UNBALANCED, str(error)) from None
            actions.append((player, action))
        self.line = 0
        while table.actor < 0 and not table.finished:
            table.next_street()
        if not table.finished:
            raise self.fail(INCOMPLETE, f"{hand.names[table.actor][:30]!r} has yet to act")
        if table.live > 1 and any(len(board) != 5 for board in self.boards):
            raise self.fail(INCOMPLETE, "a showdown without five board cards")
        return table, actions

    def _action(self, kind: Kind, chips: int, table: Table, player: int, name: str) -> int:
        own, to_call = table.own[player], table.to_call(player)
        if kind == "fold":
            return FOLD
        if kind == "check":
            if to_call > 0:
                raise self.fail(UNBALANCED, f"{name[:30]!r} checks, but {_money(to_call)} is to call")
            return CALL
        total = chips if kind == "to" else own + chips
        if kind == "call" or total <= table.bet or total - own == to_call:
            if total - own != to_call:
                raise self.fail(UNBALANCED, f"{name[:30]!r} calls {_money(total - own)} of {_money(to_call)}")
            return CALL
        return total

    def _check_cards(self, hand: TableHand, table: Table) -> None:
        shared = min((len(board) for board in hand.boards), default=0)
        common = 0
        while common < shared and len({board[common] for board in hand.boards}) == 1:
            common += 1
        cards = [card for hole in hand.holes for card in hole] + list(hand.boards[0][:common])
        cards += [card for board in hand.boards for card in board[common:]]
        if len(set(cards)) < len(cards):
            raise self.fail(BAD_CARDS, "a card is dealt twice")
        if any(len(board) not in BOARD_SIZES for board in hand.boards):
            raise self.fail(BAD_CARDS, "an incomplete board")

    def _check_winners(self, hand: TableHand, table: Table, collected: tuple[int, ...], rake: int) -> None:
        """Check that the best hands won, if all cards of the players left are known."""
        live = [k for k in range(hand.players) if not table.folded[k]]
        if len(live) < 2 or any(len(hand.holes[k]) != 2 for k in live):
            return
        shares = showdown_shares(hand, tuple(table.called()), tuple(table.folded))
        odd = hand.players * len(hand.boards) * 2  # chips that cannot be divided go to anybody
        for k in live:
            if not shares[k] - rake - odd <= collected[k] <= shares[k] + odd:
                raise self.fail(
                    WRONG_WINNER, f"{hand.names[k][:30]!r} gets {_money(collected[k])}, not {_money(shares[k])}"
                )

    def _settle(self, names: tuple[str, ...], table: Table) -> tuple[tuple[int, ...], int]:
        """Check all amounts; return the chips collected by player, and rake with fees."""
        called = table.called()
        total = [a + b for a, b in zip(table.before, table.own, strict=True)]
        returned = {name: total[k] - called[k] for k, name in enumerate(names)}
        for name, chips in self.uncalled.items():
            if chips != returned.get(name, 0):
                raise self.fail(
                    UNBALANCED,
                    f"{_money(chips)} are returned to {name[:30]!r}, {_money(returned.get(name, 0))} were not called",
                )
        collected = [self.collected.get(name, 0) for name in names]
        stated = self.pot
        walk = self.wins_include_blind and not table.raises and not table.street and table.live == 1
        if self.wins_include_uncalled or walk:
            stated = None if stated is None else stated - sum(returned.values())
            collected = [got - returned[name] for got, name in zip(collected, names, strict=True)]
        if min(collected) < 0:
            raise self.fail(UNBALANCED, "somebody wins less than its uncalled bet")
        pot = sum(called) + self.added
        rake = pot - sum(collected)
        most = max(pot * MAX_IMPLIED_RAKE, MAX_IMPLIED_RAKE_BLINDS * self.big_blind)
        if rake < 0 or rake - (self.rake or 0) > most:
            raise self.fail(UNBALANCED, f"the pot is {_money(pot)}, {_money(sum(collected))} are collected")
        if self.rake is not None and (self.rake > rake or (stated is not None and stated > pot)):
            raise self.fail(
                UNBALANCED,
                f"the pot is {_money(pot)}, {_money(sum(collected))} are collected, rake {_money(self.rake)}",
            )
        for name, chips in self.totals.items():
            k = names.index(name) if name in names else -1
            if k >= 0 and chips not in (called[k], total[k]):
                raise self.fail(
                    UNBALANCED, f"{name[:30]!r} puts in {_money(total[k])}, the summary says {_money(chips)}"
                )
        for name, chips in self.net.items():
            k = names.index(name) if name in names else -1
            if chips != (collected[k] - called[k] if k >= 0 else 0):
                raise self.fail(UNBALANCED, f"the summary says that {name[:30]!r} won {_money(chips)}")
        for k, name in enumerate(names):
            if collected[k] and table.folded[k]:
                raise self.fail(UNBALANCED, f"{name[:30]!r} folds and wins")
        return tuple(collected), rake


def _money(chips: int) -> str:
    return f"{chips / SCALE:,.2f}".removesuffix(".00")
