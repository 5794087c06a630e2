"""A minimal player for the ACPC protocol that does not use Riverboat.

Start it through a match: riverboat match default "acpc:python examples/acpc_player.py" --hands 100
It is started as COMMAND HOST PORT. It calls, and raises to three big blinds if there was no raise before the flop.
"""

import socket
import sys


def main(host: str, port: str) -> None:
    """Connect, send the version, and reply to every state in which it is this player's turn."""
    with socket.create_connection((host, int(port))) as peer, peer.makefile("rw", newline="\n") as wire:
        wire.write("VERSION:2.0.0\r\n")
        wire.flush()
        for raw in wire:
            state = raw.strip()
            if not state.startswith("MATCHSTATE:"):
                continue  # a comment
            _, seat, _, betting, cards = state.split(":", 4)
            if not my_turn(int(seat), betting, cards):
                continue
            wire.write(f"{state}:{'r300' if betting == '' else 'c'}\r\n")
            wire.flush()


def my_turn(seat: int, betting: str, cards: str) -> bool:
    """Return whether this seat acts next: seat 1 acts first before the flop, seat 0 after it, then they alternate."""
    hands = cards.split("/")[0].split("|")
    if betting.endswith("f") or all(hands):
        return False  # the hand is over
    street = betting.split("/")[-1]
    moves = sum(letter in "cr" for letter in street)
    first = 1 if "/" not in betting else 0
    return (first + moves) % 2 == seat


if __name__ == "__main__":
    main(*sys.argv[1:])
