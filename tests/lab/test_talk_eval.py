"""keepsake eval talk, as a terminal sees it: real worlds, with models that say little."""

import json
import re
import shutil

import psutil
import pytest

from game.lab.talk.evaluation import use_profile
from keepsake.errors import ConfigError
from keepsake.paths import REPOSITORY
from tests.empty_tables import lay_tables_for_labs
from tests.fakes.model_server import FakeModelServer
from tests.lab.in_process import keepsake

TALKS = """
part: tuning
places:
  yard: {name: The Yard, desc: A yard full of hides.}
agents:
  Jory: {place: yard, profile: "You are Jory, the tanner of Harl."}
  Wenna: {place: yard, profile: "You are Wenna. You play the fiddle."}
speakers: [Sam, Ann]
filler:
  chat: [It rains again., I had a bad night., The gate is open., There goes the cat.]
talks:
  - scene: first
    agent: Jory
    steps:
      - {speaker: Sam, say: "I am a piper."}
      - {speaker: Sam, ask: "What do you do?", kind: self, right: [tann], sample: A tanner.}
      - {compact: 2, filler: chat, talked: 1}
      - {leave: Sam}
      - {wait: 1 hour}
      - {speaker: Ann, whisper: "I am hiding from Sam."}
      - {speaker: Ann, ask: "What is Sam?", kind: before_compactions, right: pip, sample: A piper.}
      - together:
          - {speaker: Sam, ask: "Who are you?", kind: at_once, right: [jory], sample: Jory.}
          - {speaker: Ann, ask: "What town is this?", kind: at_once, right: harl, sample: Harl.}
  - scene: second
    agent: Wenna
    steps:
      - {speaker: Ann, ask: "Good evening!", kind: small_talk}
"""
SCRIPTED = "\n## puppet\n\n**provider**: scripted\n\n---\n"


@pytest.fixture
def home(tmp_path, tables):
    lay_tables_for_labs(tables, tmp_path / "home")
    shutil.copytree(REPOSITORY / "vault" / "config", tmp_path / "vault" / "config")
    config = tmp_path / "vault" / "config"
    compaction = (config / "memory_compaction.md").read_text()
    for key in ("immediate_window", "recent_window"):
        compaction = re.sub(rf"\*\*{key}\*\*: .*", f"**{key}**: 8", compaction)
    (config / "memory_compaction.md").write_text(compaction)
    (tmp_path / "talks.yaml").write_text(TALKS)
    return tmp_path


def add_profile(home, section):
    path = home / "vault" / "config" / "llm.md"
    path.write_text(path.read_text() + section)


def eval_talk(home, *options):
    there = {"KEEPSAKE_HOME": str(home / "home"), "KEEPSAKE_VAULT": str(home / "vault")}
    return keepsake(there, "eval", "talk", home / "talks.yaml", *options)


def test_talks_are_played_and_graded_and_the_same_seed_gives_the_same(home):
    add_profile(home, SCRIPTED)
    files = ("--json", home / "talk.json", "--transcript", home / "talk.txt")
    done = eval_talk(home, "--profile", "puppet", "--prompts", *files)
    assert done.returncode == 0, done.stderr
    heading = "kind n right 95 % life markup repeat silent parrot med s p95 s"
    assert " ".join(done.stdout.splitlines()[0].split()) == heading
    assert "…" not in done.stdout
    found = json.loads((home / "talk.json").read_text())
    assert [each["id"] for each in found["answers"]] == [
        *("first/1", "first/2", "first/3", "first/4", "second/1")
    ]
    totals = {score["kind"]: score["n"] for score in found["scores"]}
    assert (totals["checkable"], totals["all"]) == (4, 5)
    assert any(each["answer"] for each in found["answers"])
    assert all("Jory" in each["prompt"] for each in found["answers"][:4] if each["answer"])
    told = (home / "talk.txt").read_text()
    assert "== first: Jory (tuning) ==" in told
    assert "Sam to Jory: I am a piper." in told
    assert "Ann whispers to Jory: I am hiding from Sam." in told
    assert len(re.findall(r"compaction \d: (?:first summary|waterfall|made by itself)", told)) == 2
    assert len(re.findall(r"^    \[(?:RIGHT|WRONG|SILENT|MARKUP|REPEAT|PARROT)", told, re.M)) == 5
    again = eval_talk(home, "--profile", "puppet", "--agent", "wenna", "--json", "-")
    (answer,) = json.loads(again.stdout)["answers"]  # the same seed gives the same talk
    assert answer["said"] == found["answers"][-1]["said"]
    assert not list((home / "home" / "lab").glob(".talk-*"))
    assert not (home / "vault" / "agents").exists()


def test_the_profile_that_is_named_answers(home):
    with FakeModelServer() as fake:
        asked = "What do you do?"
        fake.script = lambda p: " say I am the tanner here." if asked in p else " say Good day."
        section = f"\n## other\n\n**provider**: openai\n**model**: fake\n**host**: {fake.address}\n"
        add_profile(home, section)
        done = eval_talk(home, "--profile", "other", "--limit", 1, "--json", "-")
        assert done.returncode == 0, done.stderr
        (answer,) = json.loads(done.stdout)["answers"]
        assert "the tanner here" in answer["answer"]
        assert answer["thoughts"] >= 1
        assert any(asked in prompt for prompt in fake.prompts())


def test_a_talk_that_breaks_off_leaves_its_log(home):
    def ends_the_scene(_):
        for worker in psutil.Process().children():
            for scene in worker.children():
                scene.kill()
        return " say Good day."

    with FakeModelServer() as fake:
        fake.script = ends_the_scene
        section = f"\n## other\n\n**provider**: openai\n**model**: fake\n**host**: {fake.address}\n"
        add_profile(home, section)
        done = eval_talk(home, "--profile", "other", "--limit", 1)
    assert done.returncode == 1
    kept = home / "home" / "lab" / "talk.log"
    assert f"A talk broke off. See {kept}" in done.stderr
    assert kept.exists()
    assert not list(kept.parent.glob(".talk-*"))


def test_what_cannot_be_done_is_one_sentence_before_anything_is_played(home):
    gone = "\n## gone\n\n**provider**: ollama\n**model**: m\n**host**: http://127.0.0.1:9\n"
    add_profile(home, gone)
    for options, said in (
        (["--part", "none"], "--part is 'none'"),
        (["--part", "held-out"], "No question was chosen"),
        (["--profile", "nobody"], "there is no profile 'nobody'"),
        (["--profile", "gone"], "Nobody would answer"),
    ):
        done = eval_talk(home, *options)
        assert done.returncode == 1
        assert said in done.stderr


def test_a_profile_takes_the_agents_place_and_the_rest_stays(tmp_path):
    path = tmp_path / "llm.md"
    shipped = (REPOSITORY / "vault" / "config" / "llm.md").read_text()
    path.write_text(shipped + "\n## Loud\n\n**provider**: scripted\n**temperature**: 1.5\n")
    use_profile(path, "loud")
    text = path.read_text()
    agent = text.partition("## agent")[2].partition("\n## ")[0]
    assert "**temperature**: 1.5" in agent
    assert "embedded" not in agent
    assert text.partition("## summarizer")[2].startswith(
        shipped.partition("## summarizer")[2][:200]
    )
    with pytest.raises(ConfigError):
        use_profile(path, "silent")
