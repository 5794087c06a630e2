"""How soon a node is drawn after a click, in a real browser, on a server of its own.

    python bench/page.py DATA RUN         # a data folder with a solved flop, such as examples/spots/3bet_pot.toml

Walks the moves of the run at a person's pace, then again: the first walk is of nodes that nobody read before, the second of
nodes that are known. A node counts as drawn with the second frame after its grids have changed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

CLICK = """(button) => new Promise((done) => {
  const crumbs = document.querySelector(".crumbs"), begun = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
  });
  watch.observe(crumbs, { childList: true, subtree: true });
  button.click();
})"""


def walk(page: Page, address: str, clicks: int, seed: int) -> list[float]:
    """Milliseconds of clicks on random moves and cards; from the root again where a hand ends."""
    rng, took = np.random.default_rng(seed), []
    while len(took) < clicks:
        page.goto("about:blank")
        page.goto(address)
        page.locator(".crumbs .here button").first.wait_for()
        for _ in range(clicks - len(took)):
            page.wait_for_timeout(500)  # a person looks before the next click
            if page.locator(".picker button:enabled").count():
                buttons = page.locator(".picker button:enabled")
            else:
                buttons = page.locator(".crumbs .here button:enabled").filter(has_not_text=re.compile("fold"))
            if not buttons.count():
                break
            took.append(page.evaluate(CLICK, buttons.nth(int(rng.integers(buttons.count()))).element_handle()))
    return took


def spread(milliseconds: list[float]) -> str:
    """Some quantiles."""
    middle, high, most = (float(np.quantile(milliseconds, q)) for q in (0.5, 0.95, 1.0))
    return f"median {middle:.0f} ms, 95 % {high:.0f} ms, most {most:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("run")
    parser.add_argument("--clicks", type=int, default=30)
    options = parser.parse_args()
    command = [sys.executable, "-m", "riverboat.cli.main", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(
        [*command, "--data", str(options.data)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert server.stdout is not None
        link = re.search(r"http://\S+", server.stdout.readline())
        assert link is not None
        with sync_playwright() as playwright:
            settings: dict[str, Any] = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
            browser = playwright.chromium.launch(**settings)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(link[0])
            address = f"{page.url}#study?run={options.run}"
            for what in ("not read before", "read before"):
                print(f"click to drawn, nodes {what}: {spread(walk(page, address, options.clicks, 1))}")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
