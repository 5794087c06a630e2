"""Hands written for the tests from the formats' rules: text, and what must be read from it.

Every sample has the winnings of all players that are dealt in, in hundredths of the unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """A history of one hand, and facts about it."""

    name: str
    text: str
    won: dict[str, int]  # by player
    site: str = "PokerStars"
    rake: int = 0
    currency: str = "USD"
    big_blind: int = 10
    boards: int = 1
    holes: dict[str, str] = field(default_factory=dict)
    hero: str = ""
    tournament: str = ""
    time: str = "2026-01-02 20:15:00"


def _stars(
    body: str, header: str = "Hold'em No Limit ($0.05/$0.10 USD)", title: str = "PokerStars Hand", number: int = 0
) -> str:
    return f"{title} #{1000 + number}:  {header} - 2026/01/02 20:15:00 ET\n{body}"


SEATS = """Table 'Ursa IV' 6-max Seat #1 is the button
Seat 1: Hero ($10 in chips)
Seat 2: Player2 ($10 in chips)
Seat 3: Player3 ($4 in chips)
"""
BLINDS = """Player2: posts small blind $0.05
Player3: posts big blind $0.10
*** HOLE CARDS ***
Dealt to Hero [As Kd]
"""

POKER_STARS = [
    Sample(
        "steal",
        _stars(
            SEATS
            + BLINDS
            + """Hero: raises $0.15 to $0.25
Player2: folds
Player3: folds
Uncalled bet ($0.15) returned to Hero
Hero collected $0.25 from pot
Hero: doesn't show hand
*** SUMMARY ***
Total pot $0.25 | Rake $0
Seat 1: Hero (button) collected ($0.25)
Seat 2: Player2 (small blind) folded before Flop
Seat 3: Player3 (big blind) folded before Flop
""",
            number=1,
        ),
        {"Hero": 15, "Player2": -5, "Player3": -10},
        holes={"Hero": "AsKd"},
        hero="Hero",
    ),
    Sample(
        "walk",
        _stars(
            SEATS
            + BLINDS
            + """Hero: folds
Player2: folds
Uncalled bet ($0.05) returned to Player3
Player3 collected $0.10 from pot
*** SUMMARY ***
Total pot $0.10 | Rake $0
""",
            number=2,
        ),
        {"Hero": 0, "Player2": -5, "Player3": 5},
        hero="Hero",
    ),
    Sample(
        "showdown with a mucked hand, timeouts, disconnections and chat",
        _stars(
            SEATS
            + BLINDS
            + """Hero: calls $0.10
Player2 is disconnected
Player2 has timed out while disconnected
Player2: folds
Player9 joins the table at seat #5
Player3: checks
*** FLOP *** [2c 7d Jh]
Player3 said, "Hero: folds"
Player3: checks
Hero: bets $0.20
Player3: calls $0.20
*** TURN *** [2c 7d Jh] [Ks]
Player3: checks
Hero: checks
*** RIVER *** [2c 7d Jh Ks] [3d]
Player3: bets $0.40
Hero: calls $0.40
*** SHOW DOWN ***
Player3: shows [Jd Td] (a pair of Jacks)
Hero: shows [As Kd] (a pair of Kings)
Hero collected $1.38 from pot
*** SUMMARY ***
Total pot $1.45 | Rake $0.07
Board [2c 7d Jh Ks 3d]
Seat 1: Hero (button) showed [As Kd] and won ($1.38) with a pair of Kings
Seat 2: Player2 (small blind) folded before Flop
Seat 3: Player3 (big blind) showed [Jd Td] and lost with a pair of Jacks
""",
            number=3,
        ),
        {"Hero": 68, "Player2": -5, "Player3": -70},
        rake=7,
        holes={"Player3": "JdTd"},
        hero="Hero",
    ),
    Sample(
        "three all-in with a side pot",
        _stars(
            SEATS
            + BLINDS
            + """Hero: raises $0.20 to $0.30
Player2: raises $9.70 to $10 and is all-in
Player3: calls $3.90 and is all-in
Hero: calls $9.70 and is all-in
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOW DOWN ***
Player2: shows [Qs Qd] (a pair of Queens)
Hero: shows [As Kd] (a pair of Kings)
Hero collected $12 from side pot
Player3: shows [2d 2h] (three of a kind, Deuces)
Player3 collected $11.50 from main pot
*** SUMMARY ***
Total pot $24 Main pot $12. Side pot $12. | Rake $0.50
""",
            number=4,
        ),
        {"Hero": 200, "Player2": -1000, "Player3": 750},
        rake=50,
        hero="Hero",
    ),
    Sample(
        "run it twice after the turn",
        _stars(
            SEATS
            + BLINDS
            + """Hero: raises $0.20 to $0.30
Player2: calls $0.25
Player3: folds
*** FLOP *** [2c 7d Jh]
Player2: bets $9.70 and is all-in
Hero: calls $9.70 and is all-in
*** TURN *** [2c 7d Jh] [Ks]
*** FIRST RIVER *** [2c 7d Jh Ks] [3d]
*** SECOND RIVER *** [2c 7d Jh Ks] [Qh]
*** FIRST SHOW DOWN ***
Player2: shows [Qs Qd] (a pair of Queens)
Hero: shows [As Kd] (a pair of Kings)
Hero collected $9.80 from pot
*** SECOND SHOW DOWN ***
Player2: shows [Qs Qd] (three of a kind, Queens)
Hero: shows [As Kd] (a pair of Kings)
Player2 collected $9.80 from pot
*** SUMMARY ***
Total pot $20.10 | Rake $0.50
Hand was run twice
FIRST Board [2c 7d Jh Ks 3d]
SECOND Board [2c 7d Jh Ks Qh]
""",
            number=5,
        ),
        {"Hero": -20, "Player2": -20, "Player3": -10},
        rake=50,
        boards=2,
        hero="Hero",
    ),
    Sample(
        "antes and a shown hand without a showdown",
        _stars(
            SEATS
            + """Hero: posts the ante $0.02
Player2: posts the ante $0.02
Player3: posts the ante $0.02
"""
            + BLINDS
            + """Hero: folds
Player2: raises $0.20 to $0.30
Player3: folds
Uncalled bet ($0.20) returned to Player2
Player2 collected $0.26 from pot
Player2: shows [Qs Qd] (a pair of Queens)
*** SUMMARY ***
Total pot $0.26 | Rake $0
""",
            number=6,
        ),
        {"Hero": -2, "Player2": 14, "Player3": -12},
        holes={"Player2": "QsQd"},
        hero="Hero",
    ),
    Sample(
        "dead and live posts",
        _stars(
            SEATS + "Seat 4: Player4 ($10 in chips)\nSeat 5: Player5 ($10 in chips)\n"
            "Seat 6: Player6 ($10 in chips) is sitting out\n"
            "Player2: posts small blind $0.05\nPlayer3: posts big blind $0.10\nPlayer4: posts big blind $0.10\n"
            "Player5: posts small & big blinds $0.15\nPlayer7: sits out\n*** HOLE CARDS ***\n"
            """Player4: checks
Player5: checks
Hero: folds
Player2: folds
Player3: checks
*** FLOP *** [2c 7d Jh]
Player3: bets $0.35
Player4: folds
Player5: folds
Uncalled bet ($0.35) returned to Player3
Player3 collected $0.39 from pot
*** SUMMARY ***
Total pot $0.40 | Rake $0.01
""",
            number=7,
        ),
        {"Hero": 0, "Player2": -5, "Player3": 29, "Player4": -10, "Player5": -15},
        rake=1,
    ),
    Sample(
        "heads-up, the button has the small blind",
        _stars(
            """Table 'Ursa IV' 2-max Seat #2 is the button
Seat 1: Hero ($10 in chips)
Seat 2: Player2 ($8 in chips)
Player2: posts small blind $0.05
Hero: posts big blind $0.10
*** HOLE CARDS ***
Dealt to Hero [9h 9c]
Player2: raises $0.20 to $0.30
Hero: calls $0.20
*** FLOP *** [2c 7d Jh]
Hero: checks
Player2: bets $0.30
Hero: folds
Uncalled bet ($0.30) returned to Player2
Player2 collected $0.57 from pot
*** SUMMARY ***
Total pot $0.60 | Rake $0.03
""",
            number=8,
        ),
        {"Hero": -30, "Player2": 27},
        rake=3,
        hero="Hero",
    ),
    Sample(
        "a tournament with a level and antes, thousands with commas",
        _stars(
            """Table '77 5' 9-max Seat #1 is the button
Seat 1: Hero (12,500 in chips)
Seat 2: Player2 (3,000 in chips)
Seat 3: Player3 (90 in chips)
Hero: posts the ante 100
Player2: posts the ante 100
Player3: posts the ante 90 and is all-in
Player2: posts small blind 400
*** HOLE CARDS ***
Dealt to Hero [As Kd]
Hero: raises 800 to 1600
Player2: raises 1300 to 2900 and is all-in
Hero: calls 1300
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOW DOWN ***
Player2: shows [Qs Qd] (a pair of Queens)
Hero: shows [As Kd] (a pair of Kings)
Hero collected 5820 from side pot
Player3: shows [4d 4h] (a pair of Fours)
Hero collected 270 from main pot
Player2 finished the tournament in 3rd place
*** SUMMARY ***
Total pot 6090 Main pot 270. Side pot 5820. | Rake 0
""",
            "Tournament #77, $5.00+$0.50 USD Hold'em No Limit - Level VII (400/800)",
            number=9,
        ),
        {"Hero": 309000, "Player2": -300000, "Player3": -9000},
        currency="",
        big_blind=80000,
        hero="Hero",
        tournament="77",
    ),
    Sample(
        "a cap game",
        _stars(
            SEATS
            + BLINDS
            + """Hero: raises $0.20 to $0.30
Player2: raises $2.70 to $3 and has reached the $3 cap
Player3: folds
Hero: calls $2.70 and has reached the $3 cap
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOW DOWN ***
Player2: shows [Qs Qd] (a pair of Queens)
Hero: mucks hand
Player2 collected $5.90 from pot
*** SUMMARY ***
Total pot $6.10 | Rake $0.20
Seat 1: Hero (button) mucked [Th 9h]
""".replace("Dealt to Hero [As Kd]\n", ""),
            "Hold'em No Limit ($0.05/$0.10 - $3 Cap -  USD)",
            number=10,
        ).replace("Dealt to Hero [As Kd]\n", ""),
        {"Hero": -300, "Player2": 290, "Player3": -10},
        rake=20,
        holes={"Hero": "Th9h"},
    ),
    Sample(
        "euros, names with brackets, colons and spaces",
        _stars(
            """Table 'Ursa V' 6-max Seat #3 is the button
Seat 1: Pla:yer [2] (€10 in chips)
Seat 3: Player3 (€4 in chips)
Pla:yer [2]: posts big blind €0.10
Player3: posts small blind €0.05
*** HOLE CARDS ***
Player3: calls €0.05
Pla:yer [2]: checks
*** FLOP *** [2c 7d Jh]
Pla:yer [2]: checks
Player3: checks
*** TURN *** [2c 7d Jh] [Ks]
Pla:yer [2]: checks
Player3: checks
*** RIVER *** [2c 7d Jh Ks] [3d]
Pla:yer [2]: checks
Player3: checks
*** SHOW DOWN ***
Pla:yer [2]: shows [Ah Qd] (high card Ace)
Player3: shows [Qc Ac] (high card Ace)
Player3 collected €0.10 from pot
Pla:yer [2] collected €0.10 from pot
*** SUMMARY ***
Total pot €0.20 | Rake €0
""",
            "Hold'em No Limit (€0.05/€0.10 EUR)",
            number=11,
        ),
        {"Pla:yer [2]": 0, "Player3": 0},
        currency="EUR",
    ),
    Sample(
        "a button that nobody sits at, and no small blind",
        _stars(
            """Table 'Ursa IV' 6-max Seat #1 is the button
Seat 3: Player3 ($4 in chips)
Seat 5: Hero ($10 in chips)
Seat 6: Player6 ($10 in chips)
Player3: posts big blind $0.10
*** HOLE CARDS ***
Hero: folds
Player6: raises $0.20 to $0.30
Player3: folds
Uncalled bet ($0.20) returned to Player6
Player6 collected $0.20 from pot
*** SUMMARY ***
Total pot $0.20 | Rake $0
""",
            number=12,
        ),
        {"Player3": -10, "Hero": 0, "Player6": 10},
    ),
    Sample(
        "a Zoom table and play money",
        _stars(
            SEATS.replace("$", "")
            + BLINDS.replace("$", "")
            .replace("0.05", "5")
            .replace("0.10", "10")
            .replace("Dealt to Hero [As Kd]\n", "")
            .replace("Seat", "Seat")
            + """Hero: folds
Player2: folds
Uncalled bet (5) returned to Player3
Player3 collected 10 from pot
*** SUMMARY ***
Total pot 10 | Rake 0
""",
            "Hold'em No Limit (5/10)",
            "PokerStars Zoom Hand",
            number=13,
        )
        .replace("(10 in chips)", "(1000 in chips)")
        .replace("(4 in chips)", "(400 in chips)"),
        {"Hero": 0, "Player2": -500, "Player3": 500},
        currency="",
        big_blind=1000,
    ),
    Sample(
        "a big blind that is all-in for less",
        _stars(
            SEATS.replace("Player3 ($4", "Player3 ($0.06")
            + """Player2: posts small blind $0.05
Player3: posts big blind $0.06 and is all-in
*** HOLE CARDS ***
Hero: folds
Player2: calls $0.01
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOW DOWN ***
Player2: shows [Qs Qd] (a pair of Queens)
Player3: shows [4d 4h] (a pair of Fours)
Player2 collected $0.12 from pot
*** SUMMARY ***
Total pot $0.12 | Rake $0
""",
            number=14,
        ),
        {"Hero": 0, "Player2": 6, "Player3": -6},
    ),
    Sample(
        "Spanish words and numbers",
        """Mano n.º 2001 de Zoom de PokerStars:  Hold'em No Limit (0,05 €/0,10 €) - 02-01-2026 20:15:00 CET
Mesa "Ursa" 6-max El asiento n.º 1 es el botón
Asiento 1: Hero (10,50 € en fichas)
Asiento 2: Player2 (10 € en fichas)
Asiento 3: Player3 (4 € en fichas)
Player2: pone la ciega pequeña 0,05 €
Player3: pone la ciega grande 0,10 €
*** CARTAS DE MANO ***
Repartidas a Hero [As Kd]
Hero: sube 0,20 € a 0,30 €
Player2: se retira
Player3: iguala 0,20 €
*** FLOP *** [2c 7d Jh]
Player3: pasa
Hero: apuesta 0,30 €
Player3: se retira
La apuesta no igualada (0,30 €) ha sido devuelta a Hero
Hero se lleva 0,62 € del bote
Hero: no muestra su mano
*** RESUMEN ***
Bote total 0,65 € | Comisión 0,03 €
Asiento 1: Hero (botón) recaudó (0,62 €)
""",
        {"Hero": 32, "Player2": -5, "Player3": -30},
        rake=3,
        currency="EUR",
        hero="Hero",
    ),
    Sample(
        "French words and numbers",
        """Main PokerStars n°2002 :  Hold'em No Limit (50/100) - 02/01/2026 20:15:00 CET [02/01/2026 14:15:00 ET]
Table 'Ursa' 3-max Place #1 est le bouton
Place 1: Hero (20 000 en jetons)
Place 2: Player2 (20 000 en jetons)
Place 3: Player3 (20 000 en jetons)
Player2 : met la petite blind. 50
Player3 : met la grosse blind. 100
*** CARTES FERMÉES ***
Distribuées à Hero [As Kd]
Hero : relance. 200 à 300
Player2 : se couche.
Player3 : suit. 200
*** FLOP *** [2c 7d Jh]
Player3 : parole.
Hero : mise. 400
Player3 : suit. 400
*** TOURNANT *** [2c 7d Jh] [Ks]
Player3 : parole.
Hero : parole.
*** RIVIÈRE *** [2c 7d Jh Ks] [3d]
Player3 : parole.
Hero : parole.
*** ABATTAGE ***
Player3 : montre [Jd Td] (une paire de valets)
Hero : montre [As Kd] (une paire de rois)
Hero remporte 1450 du pot
*** RÉSUMÉ ***
Pot total 1450 | Commission 0
""",
        {"Hero": 75000, "Player2": -5000, "Player3": -70000},
        currency="",
        big_blind=10000,
        hero="Hero",
    ),
]

_GG = """Poker Hand #{number}: {header} - 2026/01/02 20:15:00
Table '{table}' 6-max Seat #1 is the button
Seat 1: Hero (${stack} in chips)
Seat 2: a1b2c3d4 ($10 in chips)
Seat 3: e5f6a7b8 ($4 in chips)
{drop}a1b2c3d4: posts small blind $0.05
e5f6a7b8: posts big blind $0.10
*** HOLE CARDS ***
Dealt to Hero [As Kd]
Dealt to a1b2c3d4
Dealt to e5f6a7b8
"""


def _gg(body: str, number: str, table: str = "RushAndCash7", drop: str = "") -> str:
    header = "Hold'em No Limit ($0.05/$0.10)"
    return _GG.format(number=number, header=header, table=table, drop=drop, stack="10") + body


GG_POKER = [
    Sample(
        "a fast-fold table with hashed names and all fees",
        _gg(
            """Hero: raises $0.20 to $0.30
a1b2c3d4: folds
e5f6a7b8: calls $0.20
*** FLOP *** [2c 7d Jh]
e5f6a7b8: checks
Hero: bets $0.50
e5f6a7b8: raises $3.20 to $3.70 and is all-in
Hero: calls $3.20
e5f6a7b8: shows [Jd Td] (a pair of Jacks)
Hero: shows [As Kd] (Ace high)
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOWDOWN ***
Hero collected $7.60 from pot
*** SUMMARY ***
Total pot $8.05 | Rake $0.40 | Jackpot $0.05 | Bingo $0 | Fortune $0 | Tax $0
Board [2c 7d Jh Ks 3d]
Seat 1: Hero (button) showed [As Kd] and won ($7.60) with a pair of Kings
""",
            "RC1",
        ),
        {"Hero": 360, "a1b2c3d4": -5, "e5f6a7b8": -400},
        site="GGPoker",
        rake=45,
        hero="Hero",
    ),
    Sample(
        "a straddle",
        _gg("", "HD2").replace("*** HOLE", "Hero: straddle $0.20\n*** HOLE")
        + """a1b2c3d4: folds
e5f6a7b8: calls $0.10
Hero: checks
*** FLOP *** [2c 7d Jh]
e5f6a7b8: checks
Hero: bets $0.20
e5f6a7b8: folds
Uncalled bet ($0.20) returned to Hero
*** SHOWDOWN ***
Hero collected $0.43 from pot
*** SUMMARY ***
Total pot $0.45 | Rake $0.02 | Jackpot $0 | Bingo $0 | Fortune $0 | Tax $0
""",
        {"Hero": 23, "a1b2c3d4": -5, "e5f6a7b8": -20},
        site="GGPoker",
        rake=2,
        hero="Hero",
    ),
    Sample(
        "chips that the house adds",
        _gg(
            """Hero: folds
a1b2c3d4: raises $0.20 to $0.30
e5f6a7b8: folds
Uncalled bet ($0.20) returned to a1b2c3d4
*** SHOWDOWN ***
a1b2c3d4 collected $2.70 from pot
*** SUMMARY ***
Total pot $2.70 | Rake $0 | Jackpot $0 | Bingo $0 | Fortune $0 | Tax $0
""",
            "RC3",
            drop="Cash Drop to Pot : total $2.50\n",
        ),
        {"Hero": 0, "a1b2c3d4": 260, "e5f6a7b8": -10},
        site="GGPoker",
        hero="Hero",
    ),
    Sample(
        "run it three times",
        _gg(
            """Hero: raises $0.20 to $0.30
a1b2c3d4: raises $9.70 to $10 and is all-in
e5f6a7b8: folds
Hero: calls $9.70 and is all-in
a1b2c3d4: shows [Qs Qd]
Hero: shows [As Kd]
*** FIRST FLOP *** [2c 7d Jh]
*** FIRST TURN *** [2c 7d Jh] [4s]
*** FIRST RIVER *** [2c 7d Jh 4s] [3d]
*** SECOND FLOP *** [Kc 8d 9h]
*** SECOND TURN *** [Kc 8d 9h] [5s]
*** SECOND RIVER *** [Kc 8d 9h 5s] [6d]
*** THIRD FLOP *** [Ac Td 9s]
*** THIRD TURN *** [Ac Td 9s] [5h]
*** THIRD RIVER *** [Ac Td 9s 5h] [6h]
*** FIRST SHOWDOWN ***
a1b2c3d4 collected $6.50 from pot
*** SECOND SHOWDOWN ***
Hero collected $6.50 from pot
*** THIRD SHOWDOWN ***
Hero collected $6.50 from pot
*** SUMMARY ***
Total pot $20.10 | Rake $0.50 | Jackpot $0.10 | Bingo $0 | Fortune $0 | Tax $0
Hand was run three times
""",
            "HD4",
        ),
        {"Hero": 300, "a1b2c3d4": -350, "e5f6a7b8": -10},
        site="GGPoker",
        rake=60,
        boards=3,
        hero="Hero",
    ),
    Sample(
        "a tournament",
        """Poker Hand #TM5: Tournament #88, Evening Special Hold'em No Limit - Level5(1,000/2,000) - 2026/01/02 20:15:00
Table '12' 8-max Seat #2 is the button
Seat 1: Hero (40,000 in chips)
Seat 2: a1b2c3d4 (35,500 in chips)
a1b2c3d4: posts the ante 250
Hero: posts the ante 250
a1b2c3d4: posts small blind 1,000
Hero: posts big blind 2,000
*** HOLE CARDS ***
Dealt to Hero [As Kd]
Dealt to a1b2c3d4
a1b2c3d4: raises 33,250 to 35,250 and is all-in
Hero: folds
Uncalled bet (33,250) returned to a1b2c3d4
*** SHOWDOWN ***
a1b2c3d4 collected 4,500 from pot
*** SUMMARY ***
Total pot 4,500 | Rake 0 | Jackpot 0 | Bingo 0 | Fortune 0 | Tax 0
""",
        {"Hero": -225000, "a1b2c3d4": 225000},
        site="GGPoker",
        currency="",
        big_blind=200000,
        hero="Hero",
        tournament="88",
    ),
]

_PARTY = """***** Hand History for Game 30{number} *****
{stakes} NL Texas Hold'em - Friday, January 02, 20:15:00 EST 2026
Table Quay {number} (Real Money)
Seat 1 is the button
Total number of players : 3/6
Seat 1: Hero ( $10 USD )
Seat 2: Player2 ( $10 USD )
Seat 3: Player3 ( $4 USD )
"""
_PARTY_BLINDS = """Player2 posts small blind [$0.05 USD].
Player3 posts big blind [$0.10 USD].
** Dealing down cards **
Dealt to Hero [  As Kd ]
"""


def _party(body: str, number: int, stakes: str = "$0.05/$0.10 USD") -> str:
    return _PARTY.format(number=number, stakes=stakes) + body


PARTY_POKER = [
    Sample(
        "a raise names the chips that are added, wins have the uncalled bet",
        _party(
            _PARTY_BLINDS
            + """Hero raises [$0.30 USD]
Player2 raises [$0.85 USD]
Player3 folds
Player5 has joined the table.
Hero will be using his time bank for this hand.
Hero calls [$0.60 USD]
** Dealing Flop ** [ 2c, 7d, Jh ]
Player2 bets [$1 USD]
Hero raises [$3 USD]
Player2 folds
Hero does not show cards.
Hero wins $5.75 USD
""",
            1,
        ),
        {"Hero": 185, "Player2": -190, "Player3": -10},
        site="PartyPoker",
        rake=15,
        hero="Hero",
    ),
    Sample(
        "a dead blind, and a hand shown after the end",
        _party(
            "Player2 posts small blind [$0.05 USD].\nPlayer3 posts big blind [$0.10 USD].\n"
            "Hero posts big blind + dead [$0.15].\n** Dealing down cards **\n"
            """Hero checks
Player2 folds
Player3 checks
** Dealing Flop ** [ 2c, 7d, Jh ]
Player3 checks
Hero checks
** Dealing Turn ** [ Ks ]
Player3 checks
Hero checks
** Dealing River ** [ 3d ]
Player3 checks
Hero checks
Player3 shows [ Jd, Td ]a pair of Jacks.
Hero doesn't show [ 9h, 9c ]a pair of Nines.
Player3 wins $0.29 USD from the main pot with a pair of Jacks.
""",
            2,
        ),
        {"Hero": -15, "Player2": -5, "Player3": 19},
        site="PartyPoker",
        rake=1,
        holes={"Hero": "9h9c"},
    ),
    Sample(
        "a table named by its buy-in, side pots and a tie",
        _party(
            _PARTY_BLINDS.replace("Dealt to Hero [  As Kd ]\n", "")
            + """Hero is all-In  [$10 USD]
Player2 is all-In  [$9.95 USD]
Player3 is all-In  [$3.90 USD]
** Dealing Flop ** [ 2c, 7d, Jh ]
** Dealing Turn ** [ Ks ]
** Dealing River ** [ 3d ]
Player2 shows [ Ah, Kh ]a pair of Kings.
Hero shows [ As, Kd ]a pair of Kings.
Player3 shows [ 2d, 2h ]three of a kind, Twos.
Player2 wins $6 USD from the side pot 1 with a pair of Kings.
Hero wins $6 USD from the side pot 1 with a pair of Kings.
Player3 wins $11.50 USD from the main pot with three of a kind, Twos.
""",
            3,
            "$10 USD",
        ),
        {"Hero": -400, "Player2": -400, "Player3": 750},
        site="PartyPoker",
        rake=50,
    ),
    Sample(
        "a player without chips leaves, antes",
        _party(
            "Seat 4: Player4 ( $0 USD )\nPlayer2 posts ante [$0.02 USD].\n"
            "Player3 posts ante [$0.02 USD].\nHero posts ante [$0.02 USD].\n"
            + _PARTY_BLINDS
            + """Player4 has left the table.
Hero did not respond in time
Hero folds
Player2 calls [$0.05 USD]
Player3 checks
** Dealing Flop ** [ 2c, 7d, Jh ]
Player2 bets [$0.10 USD]
Player3 folds
Player2 does not show cards.
Player2 wins $0.35 USD
""",
            4,
        ),
        {"Hero": -2, "Player2": 13, "Player3": -12},
        site="PartyPoker",
        rake=1,
        hero="Hero",
    ),
]

PARTY_POKER.append(
    Sample(
        "a tournament with antes",
        """***** Hand History for Game 305 *****
NL Texas Hold'em $5 USD Buy-in Trny: 305 Level: 3  Blinds-Antes(100/200 -25) - Friday, January 02, 20:15:00 EST 2026
Table Freighter (305) Table #3 (Real Money)
Seat 1 is the button
Total number of players : 2/6
Seat 1: Hero ( 2,500 )
Seat 2: Player2 ( 3,000 )
Hero posts ante [25]
Player2 posts ante [25]
Hero posts small blind [100].
Player2 posts big blind [200].
** Dealing down cards **
Dealt to Hero [  As Kd ]
Hero is all-In  [2,375]
Player2 folds
Hero does not show cards.
Hero wins 2,725 chips
""",
        {"Hero": 22500, "Player2": -22500},
        site="PartyPoker",
        currency="",
        big_blind=20000,
        hero="Hero",
        tournament="305",
    )
)

_PACIFIC = """#Game No : 40{number}
***** 888poker Hand History for Game 40{number} *****
{stakes} Blinds No Limit Holdem - *** 02 01 2026 20:15:00
Table Sable {number} 6 Max (Real Money)
Seat 1 is the button
Total number of players : 3
Seat 1: Hero ( {one} )
Seat 2: Player2 ( {one} )
Seat 3: Player3 ( {two} )
"""


def _pacific(body: str, number: int, french: bool = False) -> str:
    head = _PACIFIC.format(
        number=number,
        stakes="0,05 $/0,10 $" if french else "$0.05/$0.10",
        one="1\u00a0000 $" if french else "$10",
        two="400,50 $" if french else "$4",
    )
    return head + body


_PACIFIC_BLINDS = """Player2 posts small blind [$0.05]
Player3 posts big blind [$0.10]
** Dealing down cards **
Dealt to Hero [ As, Kd ]
"""
PACIFIC = [
    Sample(
        "wins leave out the uncalled bet",
        _pacific(
            _PACIFIC_BLINDS
            + """Hero raises [$0.30]
Player2 calls [$0.25]
Player3 folds
** Dealing flop ** [ 2c, 7d, Jh ]
Player2 checks
Hero bets [$0.50]
Player2 folds
** Summary **
Hero did not show his hand
Hero collected [ $0.67 ]
""",
            1,
        ),
        {"Hero": 37, "Player2": -30, "Player3": -10},
        site="888poker",
        rake=3,
        hero="Hero",
    ),
    Sample(
        "a walk, where the win has the whole big blind",
        _pacific(_PACIFIC_BLINDS + "Hero folds\nPlayer2 folds\n** Summary **\nPlayer3 collected [ $0.15 ]\n", 2),
        {"Hero": 0, "Player2": -5, "Player3": 5},
        site="888poker",
        hero="Hero",
    ),
    Sample(
        "French numbers with narrow spaces, a mucked hand",
        _pacific(
            """Player2 posts small blind [0,05 $]
Player3 posts big blind [0,10 $]
** Dealing down cards **
Hero raises [400,50 $]
Player2 folds
Player3 calls [400,40 $]
** Dealing flop ** [ 2c, 7d, Jh ]
** Dealing turn ** [ Ks ]
** Dealing river ** [ 3d ]
** Summary **
Hero shows [ As, Kd ]
Player3 mucks [ Qs, Qd ]
Hero collected [ 798,05 $ ]
""",
            3,
            french=True,
        ),
        {"Hero": 39755, "Player2": -5, "Player3": -40050},
        site="888poker",
        rake=300,
        holes={"Player3": "QsQd"},
    ),
    Sample(
        "a dead blind with its live part",
        _pacific(
            """Player2 posts small blind [$0.05]
Player3 posts big blind [$0.10]
Hero posts dead blind [$0.05 + $0.10]
** Dealing down cards **
Hero checks
Player2 raises [$0.35]
Player3 folds
Hero folds
** Summary **
Player2 did not show his hand
Player2 collected [ $0.35 ]
""",
            4,
        ),
        {"Hero": -15, "Player2": 25, "Player3": -10},
        site="888poker",
    ),
]

PACIFIC.append(
    Sample(
        "a tournament",
        """***** 888poker Hand History for Game 405 *****
50/100 Blinds No Limit Holdem - *** 02 01 2026 20:15:00
Tournament #88405 $5 + $0.50 - Table #1 9 Max (Real Money)
Seat 1 is the button
Total number of players : 3
Seat 1: Hero ( 1,500 )
Seat 2: Player2 ( 1,500 )
Seat 3: Player3 ( 3,000 )
Hero posts ante [10]
Player2 posts ante [10]
Player3 posts ante [10]
Player2 posts small blind [50]
Player3 posts big blind [100]
** Dealing down cards **
Dealt to Hero [ As, Kd ]
Hero raises [250]
Player2 folds
Player3 folds
** Summary **
Hero did not show his hand
Hero collected [ 280 ]
""",
        {"Hero": 17000, "Player2": -6000, "Player3": -11000},
        site="888poker",
        currency="",
        big_blind=10000,
        hero="Hero",
        tournament="88405",
    )
)

_WINAMAX = """Winamax Poker - {kind} - HandId: #50{number}-1-2 - Holdem no limit ({stakes}) - 2026/01/02 20:15:00 UTC
Table: 'Lagoon 0{number}' 5-max (real money) Seat #1 is the button
"""
WINAMAX = [
    Sample(
        "no lines for uncalled bets",
        _WINAMAX.format(kind="CashGame", number=1, stakes="0.05€/0.10€")
        + """Seat 1: Hero (10€)
Seat 2: Player 2 (10€)
Seat 4: Player4 (10€)
*** ANTE/BLINDS ***
Player 2 posts small blind 0.05€
Player4 posts big blind 0.10€
Dealt to Hero [As Kd]
*** PRE-FLOP ***
Hero raises 0.20€ to 0.30€
Player 2 folds
Player4 calls 0.20€
*** FLOP *** [2c 7d Jh]
Player4 checks
Hero bets 0.40€
Player4 folds
Hero collected 1.02€ from pot
*** SUMMARY ***
Total pot 1.02€ | Rake 0.03€
Board: [2c 7d Jh]
Seat 1: Hero (button) won 1.02€
""",
        {"Hero": 32, "Player 2": -5, "Player4": -30},
        site="Winamax",
        rake=3,
        currency="EUR",
        hero="Hero",
    ),
    Sample(
        "a seat that is not dealt in, and a showdown",
        _WINAMAX.format(kind="CashGame", number=2, stakes="0.05€/0.10€")
        + """Seat 1: Hero (10€)
Seat 2: Player2 (5€)
Seat 5: Player5 (0.80€)
*** ANTE/BLINDS ***
Hero posts small blind 0.05€
Player2 posts big blind 0.10€
*** PRE-FLOP ***
Hero raises 9.90€ to 10€ and is all-in
Player2 calls 4.90€ and is all-in
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Ks]
*** RIVER *** [2c 7d Jh Ks] [3d]
*** SHOW DOWN ***
Hero shows [As Kd] (One pair : Kings)
Player2 shows [Qs Qd] (One pair : Queens)
Hero collected 14.50€ from pot
*** SUMMARY ***
Total pot 14.50€ | Rake 0.50€
Board: [2c 7d Jh Ks 3d]
Seat 1: Hero (button) showed [As Kd] and won 14.50€ with One pair : Kings
""",
        {"Hero": 450, "Player2": -500},
        site="Winamax",
        rake=50,
        currency="EUR",
    ),
    Sample(
        "a tournament with antes",
        _WINAMAX.format(kind='Tournament "Evening" buyIn: 9€ + 1€ level: 4', number=3, stakes="10/50/100")
        + """Seat 1: Hero (2000)
Seat 2: Player2 (3000)
Seat 3: Player3 (1500)
*** ANTE/BLINDS ***
Hero posts ante 10
Player2 posts ante 10
Player3 posts ante 10
Player2 posts small blind 50
Player3 posts big blind 100
Dealt to Hero [As Kd]
*** PRE-FLOP ***
Hero raises 150 to 250
Player2 folds
Player3 folds
Hero collected 430 from pot
*** SUMMARY ***
Total pot 430 | No rake
Seat 1: Hero (button) won 430
""",
        {"Hero": 17000, "Player2": -6000, "Player3": -11000},
        site="Winamax",
        currency="",
        big_blind=10000,
        hero="Hero",
        tournament="Evening",
    ),
]

_WPN = """Game started at: 2026/1/2 20:15:0
Game ID: 60{number} 0.05/0.10 Copper {number} (JP) (Hold'em)
Seat 1 is the button
Seat 1: Hero (10).
Seat 2: Player2 (10).
Seat 3: Player3 (4).
"""
WPN = [
    Sample(
        "the old form, with ranks written as 10, own cards, and a jackpot fee",
        _WPN.format(number=1)
        + """Player Player2 has small blind (0.05)
Player Player3 has big blind (0.10)
Player Player2 received a card.
Player Player2 received a card.
Player Player3 received a card.
Player Player3 received a card.
Player Hero received card: [As]
Player Hero received card: [10d]
Player Hero raises (0.30)
Player Player2 folds
Player Player3 allin (3.90)
Player Hero calls (3.70)
*** FLOP ***: [2c 7d Jh]
*** TURN ***: [2c 7d Jh] [10s]
*** RIVER ***: [2c 7d Jh 10s] [3d]
------ Summary ------
Pot: 7.70. Rake 0.30
Board: [2c 7d Jh 10s 3d]
*Player Hero shows: One pair of 10s [As 10d]. Bets: 4. Collects: 7.70. Wins: 3.70.
Player Player2 does not show cards.Bets: 0.05. Collects: 0. Loses: 0.05.
Player Player3 shows: High card [Ah Kd]. Bets: 4. Collects: 0. Loses: 4.
Game ended at: 2026/1/2 20:15:40
""",
        {"Hero": 370, "Player2": -5, "Player3": -400},
        site="WPN",
        rake=35,
        holes={"Hero": "AsTd", "Player3": "AhKd"},
        hero="Hero",
    ),
    Sample(
        "sitting out, waiting, a straddle and a dead bet",
        _WPN.format(number=2).replace(
            "Seat 3", "Seat 4: Player4 (8).\nSeat 5: Player5 (8).\nSeat 6: Player6 (8).\nSeat 3"
        )
        + """Player Player2 has small blind (0.05)
Player Player3 has big blind (0.10)
Player Player4 straddle (0.20)
Player Player5 posts (0.05) as a dead bet
Player Player5 posts (0.10)
Player Player6 is timed out.
Player Player6 wait BB
Player  sitting out
Player Player2 received a card.
Player Player3 received a card.
Player Player4 received a card.
Player Player5 received a card.
Player Hero received a card.
Player Player5 raises (0.50)
Player Hero folds
Player Player2 folds
Player Player3 folds
Player Player4 folds
Uncalled bet (0.40) returned to Player5
Player Player5 mucks cards
------ Summary ------
Pot: 0.60. Rake 0
Player Hero does not show cards.Bets: 0. Collects: 0. Wins: 0.
Player Player2 does not show cards.Bets: 0.05. Collects: 0. Loses: 0.05.
Player Player3 does not show cards.Bets: 0.10. Collects: 0. Loses: 0.10.
Player Player4 does not show cards.Bets: 0.20. Collects: 0. Loses: 0.20.
*Player Player5 mucks (does not show cards). Bets: 0.25. Collects: 0.60. Wins: 0.35.
Player Player6 does not show cards.Bets: 0. Collects: 0. Wins: 0.
Game ended at: 2026/1/2 20:15:40
""",
        {"Hero": 0, "Player2": -5, "Player3": -10, "Player4": -20, "Player5": 35},
        site="WPN",
    ),
    Sample(
        "the new form",
        """Hand #6003 - Holdem (No Limit) - $0.05/$0.10 - 2026/01/02 20:15:00 UTC
Copper 3 6-max Seat #1 is the button
Seat 1: Hero ($10.00)
Seat 2: Player2 ($10.00)
Seat 3: Player3 ($4.00)
Player2 posts the small blind $0.05
Player3 posts the big blind $0.10
*** HOLE CARDS ***
Dealt to Hero [As Kd]
Hero raises $0.30 to $0.30
Player2 calls $0.25
Player3 folds
*** FLOP *** [2c 7d Jh]
Player2 checks
Hero bets $0.40
Player2 raises $9.70 to $9.70 and is all-in
Hero folds
Uncalled bet ($9.30) returned to Player2
Player2 collected $1.42 from main pot
Player2 does not show
*** SUMMARY ***
Total pot $1.50 | Rake $0.07 | JP Fee $0.01
""",
        {"Hero": -70, "Player2": 72, "Player3": -10},
        site="ACR",
        rake=8,
        hero="Hero",
    ),
]

FULL_TILT = [
    Sample(
        "a big blind, antes and a tie",
        """Full Tilt Poker Game #7001: Table Harbor - $0.05/$0.10 Ante $0.02 - No Limit Hold'em - 20:15:00 ET - 2026/01/02
Seat 1: Hero ($10)
Seat 2: Player2 ($10)
Seat 3: Player3 ($4)
Seat 4: Player4 ($4), is sitting out
Hero antes $0.02
Player2 antes $0.02
Player3 antes $0.02
Player2 posts the small blind of $0.05
Player3 posts the big blind of $0.10
The button is in seat #1
*** HOLE CARDS ***
Dealt to Hero [As Kd]
Hero raises to $0.30
Player2: good evening
Player2 has 15 seconds left to act
Player2 folds
Player3 raises to $3.98, and is all in
Hero calls $3.68
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Qs]
*** RIVER *** [2c 7d Jh Qs] [3d]
*** SHOW DOWN ***
Hero shows [As Kd] Ace King high
Player3 shows [Ah Kc] Ace King high
Hero ties for the pot ($3.86) with Ace King high
Player3 ties for the pot ($3.86) with Ace King high
*** SUMMARY ***
Total pot $8.07 | Rake $0.35
Board: [2c 7d Jh Qs 3d]
""",
        {"Hero": -14, "Player2": -7, "Player3": -14},
        site="Full Tilt",
        rake=35,
        hero="Hero",
    ),
    Sample(
        "an uncalled bet",
        """Full Tilt Poker Game #7002: Table Harbor - $0.05/$0.10 - No Limit Hold'em - 20:15:00 ET - 2026/01/02
Seat 1: Hero ($10)
Seat 2: Player2 ($10)
Hero posts the small blind of $0.05
Player2 posts the big blind of $0.10
The button is in seat #1
*** HOLE CARDS ***
Hero raises to $0.30
Player2 folds
Uncalled bet of $0.20 returned to Hero
Hero mucks
Hero wins the pot ($0.20)
*** SUMMARY ***
Total pot $0.20 | Rake $0
""",
        {"Hero": 10, "Player2": -10},
        site="Full Tilt",
    ),
]

_ONGAME = """***** History for hand R5-8{number}-1 *****
Start hand: Fri Jan 02 20:15:00 CET 2026
Table: [SPEED] Delta [8{number}] ({game} {stakes}, Real money)
Button: seat 1
Players in round: 3
Seat 1: Hero ({c}10.00)
Seat 2: Player2 ({c}10.00)
Seat 3: Player3 ({c}4.00)
Player2 posts small blind ({c}0.05)
Player3 posts big blind ({c}0.10)
---
Dealing pocket cards
"""


def _ongame(body: str, number: int, game: str = "NO_LIMIT TEXAS_HOLDEM", c: str = "$") -> str:
    head = _ONGAME.format(number=number, game=game, stakes=f"{c}0.05/{c}0.10", c=c)
    return f"{head}{body}***** End of hand R5-8{number}-1 *****\n"


ONGAME = [
    Sample(
        "a raise names the chips that are added and the total",
        _ongame(
            """Dealing to Hero: [As, Kd]
Hero raises $0.30 to $0.30
Player2 raises $0.85 to $0.90
Player3 folds
Hero folds
---
Summary:
Main pot: $0.70 won by Player2 ($0.70)
Rake taken: $0.00
Seat 1: Hero ($9.70), net: -$0.30
Seat 2: Player2 ($10.40), net: +$0.40
Seat 3: Player3 ($3.90), net: -$0.10
""",
            1,
        ),
        {"Hero": -30, "Player2": 40, "Player3": -10},
        site="OnGame",
        hero="Hero",
    ),
    Sample(
        "side pots with two winners",
        _ongame(
            """Hero raises €10.00 to €10.00 [all in]
Player2 calls €9.95 [all in]
Player3 calls €3.90 [all in]
--- Dealing flop [2c, 7d, Jh]
--- Dealing turn [Ks]
--- Dealing river [3d]
---
Summary:
Main pot: €12.00 won by Player3 (€11.70)
Side pot 1: €12.00 won by Hero (€6.00), Player2 (€6.00)
Rake taken: €0.30
Seat 1: Hero (€6.00), net: -€4.00, [As, Kd]
Seat 2: Player2 (€6.00), net: -€4.00, [Ah, Kh]
Seat 3: Player3 (€11.70), net: +€7.70, [2d, 2h] (THREE_OF_KIND TWO)
""",
            2,
            c="€",
        ),
        {"Hero": -400, "Player2": -400, "Player3": 770},
        site="OnGame",
        rake=30,
        currency="EUR",
        holes={"Hero": "AsKd", "Player3": "2d2h"},
    ),
]

_IPOKER = """<?xml version="1.0" encoding="utf-8"?>
<session sessioncode="9">
<general>
<gametype>{game}</gametype>
<tablename>Inlet, 9</tablename>
<currency>EUR</currency>
<nickname>Hero</nickname>
{extra}</general>
{games}</session>
"""
_IPOKER_GAME = """<game gamecode="90{number}">
<general>
<startdate>2026-01-02 20:15:00</startdate>
<players>
<player seat="1" name="Hero" chips="{c}10" dealer="1" win="{c}{wins[0]}" bet="{c}{bets[0]}" />
<player seat="3" name="A &amp; B" chips="{c}10" dealer="0" win="{c}{wins[1]}" bet="{c}{bets[1]}" />
<player seat="5" name="Player3" chips="{c}4" dealer="0" win="{c}{wins[2]}" bet="{c}{bets[2]}" />
<player seat="6" name="Player4" chips="{c}0" dealer="0" win="{c}0" bet="{c}0" />
</players>
</general>
<round no="0">
<action no="2" player="Player3" type="2" sum="{c}0.10" cards="[cards]" />
<action no="1" player="A &amp; B" type="1" sum="{c}0.05" cards="[cards]" />
</round>
<round no="1">
<cards type="Pocket" player="Hero">SA D10</cards>
<cards type="Pocket" player="A &amp; B">X X</cards>
{body}</game>
"""


def _ipoker(
    body: str, wins: tuple[str, ...], bets: tuple[str, ...], number: int, game: str = "Holdem NL €0.05/€0.10"
) -> str:
    text = _IPOKER_GAME.format(number=number, body=body, wins=wins, bets=bets, c="€" if "€" in game else "")
    extra = "" if "€" in game else "<tournamentcode>99</tournamentcode>\n"
    return _IPOKER.format(game=game, games=text, extra=extra)


IPOKER = [
    Sample(
        "actions in the order of their numbers",
        _ipoker(
            """<action no="5" player="Player3" type="3" sum="€0.20" cards="" />
<action no="3" player="Hero" type="23" sum="€0.30" cards="" />
<action no="4" player="A &amp; B" type="0" sum="€0" cards="" />
</round>
<round no="2">
<cards type="Flop" player="">C2 D7 HJ</cards>
<action no="7" player="Hero" type="5" sum="€0.40" cards="" />
<action no="6" player="Player3" type="4" sum="€0" cards="" />
<action no="8" player="Player3" type="0" sum="€0" cards="" />
</round>
""",
            ("1.02", "0", "0"),
            ("0.70", "0.05", "0.30"),
            1,
        ),
        {"Hero": 32, "A & B": -5, "Player3": -30},
        site="iPoker",
        rake=3,
        currency="EUR",
        holes={"Hero": "AsTd"},
        hero="Hero",
    ),
    Sample(
        "all-in with a showdown",
        _ipoker(
            """<cards type="Pocket" player="Player3">H9 C9</cards>
<action no="3" player="Hero" type="7" sum="€10" cards="" />
<action no="4" player="A &amp; B" type="0" sum="€0" cards="" />
<action no="5" player="Player3" type="7" sum="€3.90" cards="" />
</round>
<round no="2"><cards type="Flop" player="">C2 D7 HJ</cards></round>
<round no="3"><cards type="Turn" player="">S10</cards></round>
<round no="4"><cards type="River" player="">D3</cards></round>
""",
            ("13.65", "0", "0"),
            ("10", "0.05", "4"),
            2,
        ),
        {"Hero": 365, "A & B": -5, "Player3": -400},
        site="iPoker",
        rake=40,
        currency="EUR",
        holes={"Player3": "9h9c"},
        hero="Hero",
    ),
    Sample(
        "a tournament, with blinds of the level",
        _ipoker(
            """<action no="3" player="Hero" type="0" sum="0" cards="" />
<action no="4" player="A &amp; B" type="0" sum="0" cards="" />
</round>
""",
            ("0", "0", "0.15"),
            ("0", "0.05", "0.10"),
            3,
            "Holdem NL",
        ),
        {"Hero": 0, "A & B": -5, "Player3": 5},
        site="iPoker",
        currency="",
        hero="Hero",
        tournament="99",
    ),
]

_IGNITION = """Ignition Hand #70{number}: HOLDEM Zone Poker ID#{number} HOLDEM No Limit - 2026-01-02 20:15:00
Seat 1: Dealer [ME] ($10 in chips)
Seat 2: Small Blind ($10 in chips)
Seat 3: Big Blind ($4 in chips)
Dealer [ME] : Set dealer [1]
Small Blind : Small Blind $0.05
Big Blind : Big blind $0.10
*** HOLE CARDS ***
Dealer [ME] : Card dealt to a spot [As Kd]
Small Blind : Card dealt to a spot [Qs Qd]
Big Blind : Card dealt to a spot [Jd Td]
"""
IGNITION = [
    Sample(
        "an anonymous fast-fold table with all cards",
        _IGNITION.format(number=1)
        + """Dealer [ME] : Raises $0.30 to $0.30
Small Blind : Folds
Big Blind : Calls $0.20
*** FLOP *** [2c 7d Jh]
Big Blind : Checks
Dealer [ME] : Bets $0.40
Big Blind : All-in(raise) $3.70 to $3.70
Dealer [ME] : Folds (timeout)
Big Blind : Return uncalled portion of bet $3.30
Big Blind : Does not show [Jd Td] (One pair)
Big Blind : Hand result $1.38
Dealer [ME] : Leave(Auto)
*** SUMMARY ***
Total Pot($1.45)
Board [2c 7d Jh]
""",
        {"Dealer": -70, "Small Blind": -5, "Big Blind": 68},
        site="Ignition",
        rake=7,
        holes={"Small Blind": "QsQd"},
        hero="Dealer",
    ),
    Sample(
        "main pot and side pot",
        _IGNITION.format(number=2)
        + """Dealer [ME] : All-in(raise) $10 to $10
Small Blind : All-in $9.95
Big Blind : All-in $3.90
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [4s]
*** RIVER *** [2c 7d Jh 4s] [3d]
Dealer [ME] : Mucks [As Kd] (High Card)
Small Blind : Showdown [Qs Qd] (One pair)
Big Blind : Showdown [Jd Td] (One pair)
Small Blind : Hand result-Side pot $12
Small Blind : Hand result $11.50
Small Blind : Table deposit $5
*** SUMMARY ***
Total Pot($24)
Board [2c 7d Jh 4s 3d]
""",
        {"Dealer": -1000, "Small Blind": 1350, "Big Blind": -400},
        site="Ignition",
        rake=50,
        hero="Dealer",
    ),
    Sample(
        "a dead chip and a posted chip",
        _IGNITION.format(number=3).replace(
            "*** HOLE", "Dealer [ME] : Posts dead chip $0.05\nDealer [ME] : Posts chip $0.10\n*** HOLE"
        )
        + """Dealer [ME] : Checks
Small Blind : Folds
Big Blind : Checks
*** FLOP *** [2c 7d Jh]
Big Blind : Bets $0.30
Dealer [ME] : Folds
Big Blind : Return uncalled portion of bet $0.30
Big Blind : Hand result $0.29
*** SUMMARY ***
Total Pot($0.30)
""",
        {"Dealer": -15, "Small Blind": -5, "Big Blind": 19},
        site="Ignition",
        rake=1,
        hero="Dealer",
    ),
]

SAMPLES = [*POKER_STARS, *GG_POKER, *PARTY_POKER, *PACIFIC, *WINAMAX, *WPN, *FULL_TILT, *ONGAME, *IPOKER, *IGNITION]
