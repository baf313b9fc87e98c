"""A life lived once more: what it costs and keeps, the same however it is computed."""

import json
from dataclasses import replace

import pytest

from game.lab.replays.accounting import Charged
from game.lab.replays.aftermath import MOST, aftermath
from game.lab.replays.cells import CURRENT, Cell, axes, cells, lived_for, settings_of
from game.lab.replays.figures import Failed, all_figures, as_csv, as_figures
from game.lab.replays.grid import ReplayTask, run
from game.lab.replays.lived import find_agent, read_life
from game.lab.replays.replay import LifeSetup, replay
from game.lab.replays.writers import NONE, SummaryAuthor, writer
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.memory import CompactReason
from keepsake.recall.config import RecallConfig
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_port
from tests.lab.archived import APART, FACT, NAME, START, fingerprint, lived, places, settle_down


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    here = places(tmp_path_factory.mktemp("replayed"))
    made = lived(here.agents / "Mira", 300)
    assert len(made) > 1
    return here, made


@pytest.fixture(scope="module")
def life(world):
    return read_life(*find_agent(world[0].agents, "mira"))


def once(here, life, *, hand=None, given=None, **changes):
    cell = Cell("tried", tuple(changes.items()))
    hand = hand or SummaryAuthor(Charged())
    return replay(cell, settings_of(cell, here.config), life, hand, given=given or FREE)


FREE = LifeSetup(overhead=0, probed=False)


def test_a_replay_at_the_same_settings_compacts_when_the_life_did(world, life):
    here, made = world
    result = once(here, life)
    assert len(result.ledger.made) == len(made)
    assert result.ledger.memories == life.memories == 300
    assert result.ledger.thoughts == life.acts == sum(s.kind is MemoryKind.ACT for s in life.steps)
    assert result.ledger.spent > 0
    assert result.failures == 0


def test_nothing_of_the_original_is_touched_even_while_it_is_written(world, life):
    here, _ = world
    before = fingerprint(here.vault)
    archive = Archive(here.agents / "Mira" / "archive")  # as the running world holds it
    try:
        again = read_life(*find_agent(here.agents, NAME))
        once(here, again)
    finally:
        archive.close()
    assert again == life
    assert fingerprint(here.vault) == before


def test_smaller_windows_send_less_and_compact_more(world, life):
    small = once(world[0], life, immediate_window="8", recent_window="8", preserve_memories="4")
    assert small.kept.rules_kept == small.kept.rules >= 1  # whatever becomes of all else
    large = once(world[0], life, immediate_window="64", recent_window="64")
    assert small.ledger.sent < large.ledger.sent
    assert len(small.ledger.made) > len(large.ledger.made)
    assert small.ledger.window < large.ledger.window


def test_what_comes_after_the_life_is_asked_after_an_hour_a_day_and_a_week(world, life):
    given = LifeSetup(overhead=0, recall=RecallConfig(memories=5))
    slid, ours = (
        once(world[0], life, given=given, strategy=way, immediate_window="32")
        for way in ("sliding", "narrative")
    )
    slid, kept = slid.kept, ours.kept
    assert slid.asked == kept.asked > 100
    # The window alone has forgotten by the next day, what recall and summaries have not.
    assert slid.prompt_after["week"] < kept.prompt_after["week"]
    assert slid.recall_after["week"] > slid.prompt_after["week"]
    assert kept.prompt_after["hour"] > kept.prompt_after["week"] > 0.0
    figures = as_figures(ours)
    assert 0 < figures["answers_in_prompt"] <= figures["answers_with_recall"] < figures["questions"]
    assert 0.0 < figures["recall_after_week"] < 1.0


def test_what_comes_after_a_life_is_its_own_talk_with_visitors_in_it(life):
    trial = aftermath(life, 300)
    assert trial == aftermath(life, 300)
    assert trial.memories[0].number == 301
    assert trial.memories[0].time > life.steps[-1].time
    own = [each for each in trial.memories if each.text in {step.text for step in life.steps}]
    assert 100 < len(own) <= 10 * MOST
    told = {each.number: each.text for each in trial.memories}
    (question, *_) = (each for each in trial.questions if each.kind == "rule")
    assert question.answers[0] in told[min(question.evidence)]


def test_overhead_brings_compactions_forward_and_counts_in_what_is_sent(world, life):
    bare = once(world[0], life)
    heavy = once(world[0], life, given=LifeSetup(overhead=2000, probed=False))
    assert heavy.ledger.largest > bare.ledger.largest
    assert len(heavy.ledger.made) > len(bare.ledger.made)
    assert heavy.ledger.sent > 2000 * heavy.ledger.thoughts


def test_the_sleep_mark_holds_in_a_night_and_no_longer(world, life):
    night = (life.steps[150].time, life.steps[160].time)
    asleep = replace(life, nights=(night,))
    marks = {"sleep": "0.2", "low": "0.15", "preserve_share": "0.1", "longterm_tokens": "100"}
    only = {"on_count": "no", "on_high": "no", "on_emergency": "no"}
    made = once(world[0], asleep, **marks, **only).ledger.made
    assert made
    assert {each.reason for each in made} == {CompactReason.SLEEP}
    assert all(each.last <= 160 for each in made)
    assert once(world[0], life, **marks, **only).ledger.made == []


def test_repeats_clearings_and_torn_lines_are_read_as_they_were(tmp_path):
    folder = settle_down(tmp_path / "mira")
    archive = Archive(folder / "archive")
    archive.append_memory(Memory(1, START, MemoryKind.PERCEPTION, "A bell rings."))
    archive.append({"type": "repeat", "n": 1, "t": (START + APART).isoformat(), "times": 2})
    archive.append({"type": "clear", "n": 1, "t": START.isoformat(), "compactions": 0, "step": 0})
    archive.append_memory(Memory(2, START + 2 * APART, MemoryKind.PERCEPTION, FACT))
    archive.close()
    with (folder / "archive" / "0000000001.jsonl").open("ab") as file:
        file.write(b'{"type":"memory"\n{"type":"memory","n":3,"t":"2026-0')
    life = read_life(folder, NAME)
    assert [(s.number, s.time) for s in life.steps] == [
        (1, START),
        (1, START + APART),
        (2, START + 2 * APART),
    ]
    assert (life.cleared, life.unreadable, life.memories) == (frozenset({2}), 1, 2)
    result = once(places(tmp_path), life)
    assert result.ledger.memories == 2


def test_the_agent_is_found_by_its_name_or_told_which_there_are(world, tmp_path):
    agents = world[0].agents
    assert find_agent(agents, " MIRA ") == (agents / "Mira", NAME)
    with pytest.raises(KeepsakeError, match="There are: Mira"):
        find_agent(agents, "Joss")
    with pytest.raises(KeepsakeError, match="KEEPSAKE_VAULT"):
        find_agent(tmp_path / "none", NAME)
    (settle_down(tmp_path / "agents" / "Joss") / "archive").mkdir()
    with pytest.raises(KeepsakeError, match="lived through nothing"):
        read_life(*find_agent(tmp_path / "agents", "joss"))


# -- the grid


def test_the_grid_is_the_product_with_the_present_first(world):
    grid = cells(
        axes(strategies="structured,narrative", windows="32/32,64", settings=["mask=yes,no"])
    )
    assert grid[0].name == CURRENT
    assert len(grid) == 1 + 2 * 2 * 2
    assert grid[1].name == "structured 32/32 mask yes"
    lived_as, problems = lived_for(grid, world[0].config)
    assert problems == {}
    # It is what is shipped; all others are lived for themselves.
    assert {cell.name: other.name for cell, other in lived_as.items() if cell is not other} == {
        "narrative 64/64 mask yes": CURRENT
    }


def test_options_that_cannot_be_read_say_how_they_are_written():
    numbers = ",".join(map(str, range(1, 30)))
    for options, message in (
        ({"windows": "3x"}, "32/32"),
        ({"windows": "8/8,,4/4"}, "empty value"),
        ({"settings": ["colour=red"]}, "--set key=value"),
        ({"settings": ["mask"]}, "--set key=value"),
        ({"windows": numbers, "settings": [f"preserve_memories={numbers}"]}, "fewer values"),
    ):
        with pytest.raises(KeepsakeError, match=message):
            cells(axes(**options))


def grid_of(here, life, written, jobs):
    task = ReplayTask(here, life, NONE, LifeSetup(overhead=500, probed=False))
    done = []
    results = run(task, cells(axes(**written)), jobs, done.append)
    assert sorted(each.cell.name for each in done) == sorted(each.cell.name for each in results)
    return results


def test_the_results_are_the_same_however_many_processes(world, life):
    written = {"strategies": "nosuch,sliding", "windows": "8/8", "high": "0.3,0.8"}
    alone = grid_of(world[0], life, written, 1)
    assert grid_of(world[0], life, written, 2) == alone
    assert [each.cell.name for each in alone][:2] == [CURRENT, "nosuch 8/8 high 0.3"]
    # A configuration that cannot be is a row of its own.
    assert [isinstance(each, Failed) for each in alone] == [False, True, True, True, False]
    assert "no template 'nosuch'" in alone[1].problem
    assert "low 0.6 is not below high 0.3" in alone[3].problem
    assert as_figures(alone[1])["problem"] == alone[1].problem
    assert as_csv(all_figures(alone)).count("\n") >= 6


def test_figures_add_up(world, life):
    figures = as_figures(once(world[0], life, immediate_window="32"))
    assert (figures["immediate_window"], figures["recent_window"]) == (32, 64)
    assert figures["strategy"] == "narrative"
    cost = (figures["tokens_evaluated"] + figures["tokens_spent"]) / figures["thoughts"]
    assert figures["cost_a_thought"] == pytest.approx(cost, abs=0.01)
    json.dumps(figures)


# -- the model


_LLM = """\
## agent
**provider**: ollama
**model**: comma
**host**: {host}

## summarizer
**provider**: ollama
**model**: comma
**host**: {host}
**time_limit**: 30

## rules
**provider**: extractive
"""


@pytest.fixture
def modelled(world, tmp_path):
    here = replace(places(tmp_path), vault=tmp_path / "vault")
    here.config.mkdir(parents=True)
    summary = "I met Tom and Wren and Oswin; Tom said Edwin mends nets in Ostrey."
    with FakeModelServer(models=["comma"], script=lambda _: summary) as fake:
        (here.config / "llm.md").write_text(_LLM.format(host=fake.address))
        yield here, fake


def test_a_profile_of_llm_md_writes_the_summaries(modelled, life):
    here, fake = modelled
    hand = writer(here, "summarizer")
    result = once(here, life, hand=hand)
    hand.close()
    assert fake.calls("/api/generate")
    assert result.ledger.spent > 0


def test_a_model_that_fails_costs_a_compaction_and_in_the_end_the_life(modelled, life):
    here, fake = modelled
    hand = writer(here, "summarizer")
    fake.plan("/api/generate", Reply(status=400), Reply(status=400))
    result = once(here, life, hand=hand, fallback_after="0")
    assert 1 <= result.failures <= 2
    assert result.ledger.made
    fake.plan("/api/generate", *[Reply(status=400) for _ in range(200)])
    with pytest.raises(KeepsakeError, match=r"failed 5 compactions.*leave --model out"):
        once(here, life, hand=hand, fallback_after="0")
    hand.close()


def test_a_model_that_is_not_there_is_said_before_anything_is_lived(modelled, life):
    here, _ = modelled
    text = _LLM.format(host=f"http://127.0.0.1:{free_port()}")
    (here.config / "llm.md").write_text(text)
    with pytest.raises(KeepsakeError, match="leave --model out"):
        writer(here, "summarizer")
    with pytest.raises(KeepsakeError, match="nobody"):
        writer(here, "nobody")
    assert writer(here, "rules").summarizer
    (here.config / "llm.md").write_text("## summarizer\n**provider**: nosuch\n")
    with pytest.raises(KeepsakeError, match="provider"):
        writer(here, "summarizer")
