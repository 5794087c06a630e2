"""Matches, round robins and the demo."""

import json
import shutil
import sys

import pokerkit
import pytest

from random_blueprints import random_blueprint
from riverboat.agents import registry
from riverboat.cli import demo
from riverboat.cli.matches import match as match_commands
from riverboat.cli.matches.match import match
from riverboat.cli.matches.reviews import review
from riverboat.core.errors import InputError
from riverboat.evaluation.ledger import read_ledger
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.training import has_no_checkpoint
from riverboat.strategies.blueprint import save_blueprint

RULES = read_game("nolimit-200bb")
KEYS = {"mbb_per_game", "bb_per_100", "ci95", "hands", "pairs", "seed", "names", "unit", "game"}


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    return str(save_blueprint(random_blueprint("leduc"), tmp_path_factory.mktemp("runs") / "leduc"))


def test_json_is_one_object(capsys):
    match(["always-fold", "always-raise"], hands=2000, seed=4, json=True)
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= KEYS
    # 50 in the small blind; in the big blind a raise wins 100.
    assert (found["mbb_per_game"], found["bb_per_100"], found["ci95"]) == (-750, -75, 0)
    assert (found["hands"], found["pairs"], found["seed"]) == (2000, 1000, 4)
    assert (found["names"], found["game"]) == (["always-fold", "always-raise"], "nolimit-200bb")


def test_agent_accounts(capsys):
    """The account of a meta-agent appears in text and in JSON."""
    names = ["hedge:always-raise,always-call,every=100", "always-fold"]
    match(names, hands=400, json=True)
    (account,) = json.loads(capsys.readouterr().out)["accounts"].values()
    assert account.startswith("weights: always-raise ")
    match(names, hands=400)
    assert account in " ".join(capsys.readouterr().out.split())


def test_round_robin_plot(tmp_path, capsys):
    names = ["always-fold", "always-raise", "always-call"]
    match(names, hands=200, plot=tmp_path / "match.png")
    assert (tmp_path / "match.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="--plot"):
        match(names[:2], hands=200, plot=tmp_path / "two.png")
    with pytest.raises(InputError, match=r"match\.txt"):
        match(names, hands=200, plot=tmp_path / "match.txt")
    assert "always-raise" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["match.png"]


def test_aivat_narrows_the_interval(leduc, capsys):
    """AIVAT narrows the interval; the same hands are played with and without it."""
    names = [f"{leduc}?seed=1", f"{leduc}?purify&seed=2"]
    match(names, hands=2000, json=True)
    plain = json.loads(capsys.readouterr().out)
    match(names, hands=2000, json=True, aivat=True)
    found = json.loads(capsys.readouterr().out)
    assert found["raw"] == {key: plain[key] for key in ("mbb_per_game", "ci95")}
    assert found["factor"] == pytest.approx((plain["ci95"] / found["ci95"]) ** 2)
    assert found["ci95"] < 0.6 * plain["ci95"]
    assert abs(found["mbb_per_game"] - plain["mbb_per_game"]) < 2 * plain["ci95"]
    assert found["aivat"] == {"known": names}
    match(names, hands=20_000, json=True, aivat=True, until_settled="-2000,2000")
    settled = json.loads(capsys.readouterr().out)
    assert (settled["verdict"], settled["bounds"]) == ("between", [-2000, 2000])
    assert settled["hands"] < 20_000
    match(names, hands=2000, aivat=True, until_settled="-2000,2000")
    said = capsys.readouterr().out
    assert "with AIVAT" in said
    assert "-2000 and 2000 mbb/g" in said


def test_most_expensive_hands_are_printed(leduc, capsys):
    names = [f"{leduc}?seed=1", "always-raise"]
    match(names, hands=200, aivat=True, worst=2)
    said = capsys.readouterr().out.partition("hand ")[2]
    assert said.count("without luck") == 2
    assert "always-raise" in said
    assert max(map(len, said.splitlines())) <= 80
    match(names, hands=200, aivat=True, worst=2, json=True)
    found = json.loads(capsys.readouterr().out)["worst"]
    assert [hand["won"] for hand in found] == sorted(hand["won"] for hand in found)
    assert f"hand {found[0]['hand']}: " in f"hand {said}"
    with pytest.raises(InputError, match=r"worst=3.*aivat"):
        match(names, hands=200, worst=3)


def test_a_round_robin_with_aivat_goes_into_a_ledger(leduc, tmp_path, capsys):
    names = [f"{leduc}?seed=1", f"{leduc}?purify", "always-call"]
    match(names, hands=400, json=True, aivat=True)
    text = capsys.readouterr().out
    found = json.loads(text)
    assert len(found["matches"]) == 3
    assert all(each["ci95"] < each["raw"]["ci95"] for each in found["matches"])
    taken = read_ledger(tmp_path / "ledger.jsonl").add(found)
    assert {entry.extra["aivat"] for entry in taken.entries} == {True}
    assert [rating.matches for rating in taken.ratings()] == [2, 2, 2]
    match(names, hands=400, aivat=True)
    assert "with AIVAT" in capsys.readouterr().out


def test_review_of_a_recorded_match(leduc, tmp_path, capsys):
    """A review equals the original AIVAT estimate, with both, one or no strategy known."""
    names, log = [f"{leduc}?purify&seed=1", "always-raise"], tmp_path / "match.log"
    match(names, hands=400, aivat=True, worst=2, json=True, histories=log)
    played = json.loads(capsys.readouterr().out)
    given = [f"{name}={name}" for name in names]
    review(log, agents=given, worst=2, threads=1, json=True)
    found = json.loads(capsys.readouterr().out)
    for key in ("mbb_per_game", "ci95", "hands", "raw", "factor"):
        assert found[key] == pytest.approx(played[key], rel=1e-9)
    assert (found["worst"], found["aivat"]) == (played["worst"], played["aivat"])
    assert found["duplicate"]
    review(log, agents=given[:1], worst=0, threads=1, json=True)
    one = json.loads(capsys.readouterr().out)
    assert (one["raw"], one["aivat"]["known"]) == (played["raw"], names[:1])
    assert found["ci95"] < one["ci95"] < one["raw"]["ci95"]
    review(log, worst=1, threads=1)
    assert "hand " in capsys.readouterr().out
    with pytest.raises(InputError, match=r"nobody=always-call.*NAME=AGENT"):
        review(log, agents=["nobody=always-call"], worst=1, threads=1)


@pytest.mark.parametrize("text", ["", "5", "a,b", "1,2,3", "50,-50", "0,0", "nan,1", "0,inf"])
def test_invalid_bounds(text):
    with pytest.raises(InputError, match="--until-settled"):
        match(["always-call", "always-fold"], hands=2000, until_settled=text)


def test_a_table_with_the_interval(capsys):
    match(["rule-based", "random"], hands=2000, seed=1)
    shown = capsys.readouterr().out
    found = play_match(registry.make_agent("rule-based", 1), registry.make_agent("random", 1), RULES, 2000, 1)
    assert f"{found.mbb_per_game:+,.1f}" in shown
    assert f"{found.ci95:,.1f}" in shown
    assert "wins" in shown
    assert "1,000 duplicate pairs, seed 1" in shown


def test_verdicts(capsys):
    match(["always-call", "always-raise"], hands=200)  # even with any cards
    assert "undecided" in capsys.readouterr().out
    match(["always-fold", "always-raise"], hands=200)
    assert "loses" in capsys.readouterr().out


def test_the_game_is_that_of_the_blueprint(leduc, capsys):
    match(["random", f"{leduc}?purify"], hands=400, json=True)
    assert json.loads(capsys.readouterr().out)["game"] == "leduc"
    match(["random", "always-call"], hands=400, json=True, game="limit")
    assert json.loads(capsys.readouterr().out)["game"] == "limit"
    with pytest.raises(InputError, match="'leduc'"):
        match(["random", leduc], hands=400, game="limit")


def test_histories_are_written(tmp_path, capsys):
    path = tmp_path / "match.phhs"
    match(["random", "always-call"], hands=20, histories=path)
    with path.open("rb") as file:
        kept = list(pokerkit.HandHistory.load_all(file))
    assert len(kept) == 20
    assert {tuple(sorted(hand.players)) for hand in kept} == {("always-call", "random")}
    assert str(path) in capsys.readouterr().err


def test_round_robin(leduc, capsys):
    names = ["random", leduc, "always-fold"]
    match(names, hands=400, seed=3, json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["agents"] == names
    assert [pair["agents"] for pair in found["matches"]] == [names[:2], names[::2], names[1:]]
    assert (found["hands"], found["pairs"], found["seed"], found["game"]) == (400, 200, 3, "leduc")
    assert sum(found["mean_mbb_per_game"].values()) == pytest.approx(0, abs=1e-9)
    match(["always-fold", "always-call", "always-raise"], hands=400)
    shown = capsys.readouterr().out
    assert "-750 ± 0" in shown
    assert "+750 ± 0" in shown
    assert shown.splitlines()[0].split() == ["mbb/g", "always-raise", "always-call", "always-fold", "mean"]


@pytest.mark.parametrize(
    ("names", "options", "reason"),
    [
        (["random"], {}, "1 agents"),
        (["random", "randon"], {}, "'randon'.*'random'"),
        (["random", "random", "always-call"], {}, "3 agents, 2"),
        (["random", "always-call"], {"hands": 5}, "5"),
        (["random", "always-call"], {"game": "holdem"}, "'holdem'"),
        (["random", "always-call", "always-fold"], {"histories": "a.phhs"}, "--histories"),
        (["random", "acpc:./player"], {}, "./player"),
    ],
)
def test_invalid_matches(names, options, reason):
    with pytest.raises(InputError, match=reason):
        match(names, **options)


# --- Demo ---


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folder of `demo`."""
    monkeypatch.setattr(registry, "demo_folder", lambda: tmp_path / "riverboat" / "demo")
    return tmp_path / "riverboat"


def test_demo_uses_an_existing_blueprint(home, capsys):
    """A blueprint of another game in the demo's folder is not trained over."""
    save_blueprint(random_blueprint("leduc"), home / "demo")
    played = demo.demo(pairs=100)
    shown = capsys.readouterr().out
    assert [found.names[1] for found in played] == [
        "always-fold",
        "always-call",
        "always-raise",
        "random",
        "rule-based",
    ]
    assert {found.hands for found in played} == {200}
    for found in played:
        assert f"{found.mbb_per_game:+,.1f}" in shown
    assert "riverboat play demo" in shown
    assert [path.name for path in home.iterdir()] == ["demo"]


def test_demo_with_a_damaged_folder(home):
    (home / "demo").mkdir(parents=True)
    (home / "demo" / "note").write_text("mine")
    with pytest.raises(InputError, match=r"delete .*demo"):
        demo.demo()
    (home / "demo" / "note").unlink()
    (home / "tiny").mkdir()
    (home / "tiny" / "note").write_text("mine")
    with pytest.raises(InputError, match=r"delete .*tiny"):
        demo.demo()
    with pytest.raises(InputError, match="pairs=20000"):
        demo.demo(pairs=20_000)


def test_demo_killed_before_its_first_checkpoint_starts_again(home, monkeypatch):
    """Files that training leaves before its first complete checkpoint are not an agent, and do not block a restart."""
    asked = []

    def train(recipe, *, out, resume, **options):
        asked.append((resume, has_no_checkpoint(out)))
        save_blueprint(random_blueprint("leduc"), out / "strategy")

    monkeypatch.setattr(demo.abstract, "abstract", lambda *given, **options: None)
    monkeypatch.setattr(demo.train, "train", train)
    monkeypatch.setattr(demo, "_play", lambda *given: None)
    monkeypatch.setattr(demo, "match_table", lambda played: "")
    for left in ((), ("cards",), ("cards", ".checkpoint-000001.7.tmp"), (".cards.7.tmp",)):
        shutil.rmtree(home, ignore_errors=True)
        for name in left:
            (home / "demo" / name).mkdir(parents=True)
        (home / "demo").mkdir(parents=True, exist_ok=True)
        (home / "demo" / ".lock").touch()
        demo.demo(pairs=2)
        assert asked.pop() == (False, True), left


@pytest.mark.slow
def test_demo_from_scratch(home, capsys):
    """The demo is trained, beats the baselines, is loaded the next time, and continues training on request."""
    played = {found.names[1]: found for found in demo.demo(time="10s", pairs=5000)}
    for name in ("always-fold", "always-call", "always-raise", "random"):
        assert match_commands.interval_verdict(played[name]) == "wins", str(played[name])
    capsys.readouterr()
    again = demo.demo(time="10s", pairs=5000)
    assert str(home / "demo") in capsys.readouterr().err
    assert [found.chips for found in again] == [found.chips for found in played.values()]
    demo.demo(time="11s", pairs=2)
    assert "11s" in capsys.readouterr().err
    assert demo.load_blueprint(home / "demo").provenance["seconds"] >= 11


def test_match_with_a_program(capsys):
    program = f"acpc:{sys.executable} -m riverboat.cli.main acpc client always-fold --game leduc"
    match(["always-raise", program], hands=20, json=True, game="leduc")
    found = json.loads(capsys.readouterr().out)
    assert found["hands"] == 20
    assert found["pairs"] == 10
    assert found["mbb_per_game"] > 0
    with pytest.raises(InputError, match="acpc:COMMAND"):
        match(["always-raise", program, "random"], hands=20, game="leduc")
