"""Files of other solvers: read as the spots that a person would write for them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.formats.other_solvers import parse_other_solver_file
from riverboat.games.spots.spot import Spot

# Lines of PioSOLVER's tree builder with invented numbers.
PIO = """#Type#NoLimit
#Range0#AA,KK:0.5
#Range1#QQ,JTs
#Board#Qs Jh 2h
#Pot#180
#EffectiveStacks#910
#AllinThreshold#67
#AddAllinOnlyIfLessThanThisTimesThePot#250
#MergeSimilarBets#True
#MergeSimilarBetsThreshold#12
#CapEnabled#True
#FlopConfig.BetSize#52
#FlopConfig.RaiseSize#45
#FlopConfig.AddAllin#True
#TurnConfig.BetSize#30 66
#TurnConfig.RaiseSize#2.5x
#TurnConfig.DonkBetSize#20c
#TurnConfig.AddAllin#True
#RiverConfig.BetSize#70, a
#RiverConfig.AddAllin#True
#FlopConfigIP.BetSize#33
#FlopConfigIP.RaiseSize#a
#FlopConfigIP.AddAllin#True
"""

TEXAS = """set_pot 50
set_effective_stack 200
set_board Qs,Jh,2h,9c
set_range_ip AA:0.25,KK
set_range_oop QQ,JJ:0.75
set_bet_sizes oop,turn,bet,50
set_bet_sizes oop,turn,raise,60
set_bet_sizes oop,turn,allin
set_bet_sizes ip,turn,bet,33,75
set_bet_sizes oop,river,bet,50
set_bet_sizes oop,river,donk,30
set_allin_threshold 0.67
set_raise_limit 3
build_tree
set_thread_num 8
start_solve
dump_result out.json
"""

WASM: dict[str, Any] = {
    "startingPot": 180, "effectiveStack": 910, "rakePercent": 5, "rakeCap": 30, "donkOption": True,
    "oopFlopBet": "33%, 75%", "oopFlopRaise": "45", "oopTurnBet": "e", "oopTurnRaise": "2.5x", "oopTurnDonk": "20c",
    "oopRiverBet": "", "oopRiverRaise": "", "oopRiverDonk": "",
    "ipFlopBet": "50", "ipFlopRaise": "", "ipTurnBet": "50", "ipTurnRaise": "", "ipRiverBet": "a", "ipRiverRaise": "",
    "addAllInThreshold": 150, "forceAllInThreshold": 20, "mergingThreshold": 10, "addedLines": "", "removedLines": "",
}  # fmt: skip


def share(stack: int, pot: int, committed: str) -> str:
    """Return the share of the pot left behind after a call of a bet of this share of the stack, by hand."""
    s, r = Decimal(stack) / pot, Decimal(committed)
    return f"{(100 * (s - s * r) / (1 + 2 * s * r)).quantize(Decimal('0.01'))}%"


def test_pio() -> None:
    found = parse_other_solver_file(PIO, "tree.txt")
    bets = {
        "oop": {
            "flop": {"bet": "52%", "raise": "45%"},
            "turn": {"bet": "30%, 66%", "raise": "2.5x", "donk": "20c"},
            "river": {"bet": "70%, a"},
        },
        "ip": {"flop": {"bet": "33%", "raise": "a"}, "turn": {"bet": ""}, "river": {"bet": ""}},
    }
    wanted = Spot.make(
        board="QsJh2h", pot=180, stack=910, oop="AA,KK:0.5", ip="QQ,JTs", bets=bets, name="tree",
        add_all_in="250%", merge="12%", force_all_in=share(910, 180, "0.67"),
    )  # fmt: skip
    assert found.spot == wanted
    assert (found.source, found.notes) == ("PioSOLVER", ("#CapEnabled#True",))


def test_texas() -> None:
    found = parse_other_solver_file(TEXAS, "script.txt")
    bets = {
        "oop": {"turn": {"bet": "50%, a", "raise": "60%, a"}, "river": {"bet": "50%", "donk": "30%"}},
        "ip": {"turn": {"bet": "33%, 75%"}, "river": {"bet": ""}},
    }
    wanted = Spot.make(
        board="QsJh2h9c", pot=50, stack=200, oop="QQ,JJ:0.75", ip="AA:0.25,KK", bets=bets, name="script",
        force_all_in=share(200, 50, "0.67"),
    )  # fmt: skip
    assert found.spot == wanted
    assert found.notes == ("set_raise_limit 3",)


@pytest.mark.parametrize("wrapped", [False, True])
def test_wasm(wrapped: bool) -> None:
    text = json.dumps({"name": "mine", "value": WASM} if wrapped else WASM)
    found = parse_other_solver_file(text, "c.json", board="QsJh2h", oop="AA", ip="KK,QQ:0.5")
    bets = {
        "oop": {
            "flop": {"bet": "33%, 75%", "raise": "45%"},
            "turn": {"bet": "e", "raise": "2.5x", "donk": "20c"},
            "river": {"bet": "", "raise": "", "donk": ""},
        },
        "ip": {
            "flop": {"bet": "50%", "raise": ""},
            "turn": {"bet": "50%", "raise": ""},
            "river": {"bet": "a", "raise": ""},
        },
    }
    wanted = Spot.make(
        board="QsJh2h", pot=180, stack=910, oop="AA", ip="KK,QQ:0.5", bets=bets, rake=0.05, rake_cap=30,
        add_all_in="150%", force_all_in="20%", merge="10%", name="c",
    )  # fmt: skip
    assert found.spot == wanted
    assert not found.notes


def test_weights_in_pios_order() -> None:
    weights = np.random.default_rng(1).random(1326).round(3)
    text = PIO.replace("#Range0#AA,KK:0.5", "#Range0#" + " ".join(map(str, weights)))
    found = parse_other_solver_file(text, "tree.txt").spot
    assert np.array_equal(found.ranges[0].weights, weights)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "^x: "),
        (PIO.replace("#Pot#180", "#Pot#many"), "x: Pot 'many': "),
        (PIO.replace("#Pot#180", "#Pot#18.5"), r"x: Pot '18\.5'"),
        (PIO.replace("#Board#Qs Jh 2h\n", ""), "x: board .*PioSOLVER"),
        (PIO.replace("JTs", "JTq"), "x: range of ip"),
        (PIO.replace("BetSize#52", "BetSize#much"), "x: .*much"),
        (TEXAS.replace("oop,turn,bet", "hero,turn,bet"), "set_bet_sizes 'hero,turn,bet,50'"),
        (json.dumps(WASM), "x: board, oop, ip .*WASM Postflop"),
        (json.dumps(WASM)[:-3], "x: .*JSON"),
    ],
)
def test_invalid_files(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_other_solver_file(text, "x")


def test_entries_without_a_counterpart_are_noted() -> None:
    mixed = PIO.replace("#TurnConfig.AddAllin#True", "#TurnConfig.AddAllin#False")
    assert "#….AddAllin#True on some streets only: no all-in is added" in parse_other_solver_file(mixed).notes
    edited = json.dumps(WASM | {"addedLines": "F:B50"})
    assert parse_other_solver_file(edited, board="QsJh2h", oop="AA", ip="KK").notes == ("addedLines: F:B50",)
