"""Time from a click to the drawn node, in a real browser, on a server of its own.

    python bench/page.py DATA RUN         # a data folder with a solved flop, such as examples/spots/3bet_pot.toml

Clicks through the actions of the run at a person's pace, then again: the first pass visits nodes for the first time,
the second visits cached nodes. A node counts as drawn with the second frame after its grids have changed.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright
from serve import spread, start

CLICK = """(button) => new Promise((done) => {
  const crumbs = document.querySelector(".crumbs"), begun = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done((performance.now() - begun) / 1e3)));
  });
  watch.observe(crumbs, { childList: true, subtree: true });
  button.click();
})"""


def walk(page: Page, address: str, clicks: int, seed: int) -> list[float]:
    """Return the seconds of clicks on random actions and cards; after the end of a hand, restart at the root."""
    rng, times = np.random.default_rng(seed), []
    while len(times) < clicks:
        page.goto("about:blank")
        page.goto(address)
        page.locator(".crumbs .here button").first.wait_for()
        for _ in range(clicks - len(times)):
            page.wait_for_timeout(500)  # thinking time before the next click
            if page.locator(".picker button:enabled").count():
                buttons = page.locator(".picker button:enabled")
            else:
                buttons = page.locator(".crumbs .here button:enabled").filter(has_not_text=re.compile("fold"))
            if not buttons.count():
                break
            times.append(page.evaluate(CLICK, buttons.nth(int(rng.integers(buttons.count()))).element_handle()))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("run")
    parser.add_argument("--clicks", type=int, default=30)
    options = parser.parse_args()
    server, base, token, _ = start(options.data)
    try:
        with sync_playwright() as playwright:
            settings: dict[str, Any] = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
            browser = playwright.chromium.launch(**settings)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{base}/?token={token}")
            address = f"{page.url}#study?run={options.run}"
            for title in ("not read before", "read before"):
                print(f"click to drawn, nodes {title}: {spread(walk(page, address, options.clicks, 1), 0)}")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
