"""Speed and coverage of hand histories of sites: Riverboat's readers and PokerKit's parsers on the samples of the tests.

    python bench/histories.py [--repeat 200]

Both read the same text in turn, one thread; the least time of three counts. Both check hands by replaying them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from pokerkit import notation
from tests.formats.site_samples import SAMPLES, Sample

from riverboat.formats.sites.reader import read_text

PARSERS = {
    "PokerStars": notation.PokerStarsParser,
    "GGPoker": notation.PokerStarsParser,
    "PartyPoker": notation.PartyPokerParser,
    "Full Tilt": notation.FullTiltPokerParser,
    "OnGame": notation.OngameNetworkParser,
    "iPoker": notation.IPokerNetworkParser,
}


def count_pokerkit(site: str, text: str) -> int:
    """Return the number of hands that PokerKit parses."""
    if site not in PARSERS:
        return 0
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):  # it prints a traceback for each hand
        warnings.simplefilter("ignore")
        try:
            return sum(1 for _ in PARSERS[site]()(text))
        except Exception:  # its parsers raise errors of any kind for lines that they do not know
            return 0


def count_own(site: str, text: str) -> int:
    result = read_text(text)
    return len(result.hands) + result.duplicates


def rate(count: Callable[[str, str], int], samples: list[Sample], repeat: int) -> float:
    """Return hands per minute on the samples that are read, each repeated; 0 if none is."""
    readable = [sample for sample in samples if count(sample.site, sample.text)]
    if not readable:
        return 0.0
    texts = [(sample.site, "\n\n\n".join([sample.text.strip()] * repeat) + "\n") for sample in readable]
    least = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        done = sum(count(site, text) for site, text in texts)
        least = min(least, (time.perf_counter() - begin) / max(done, 1))
    return 60 / least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    repeat = parser.parse_args().repeat
    print(f"{'site':12} {'samples':>8} {'read':>6} {'PokerKit':>9} {'hands/min':>12} {'PokerKit/min':>13}")
    for site in dict.fromkeys(sample.site for sample in SAMPLES):
        samples = [sample for sample in SAMPLES if sample.site == site]
        own = sum(bool(count_own(site, sample.text)) for sample in samples)
        other = sum(bool(count_pokerkit(site, sample.text)) for sample in samples)
        rates = rate(count_own, samples, repeat), rate(count_pokerkit, samples, repeat)
        print(f"{site:12} {len(samples):8} {own:6} {other:9} {rates[0]:12,.0f} {rates[1]:13,.0f}")


if __name__ == "__main__":
    main()
