from __future__ import annotations

import logging
from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.markdown_config import with_settings
from keepsake.models.embedding import load_embedder
from keepsake.models.profiles import (
    CHAT,
    DIALOGUE,
    ModelProfile,
    Profiles,
    embedded_profile,
    load,
)
from keepsake.paths import REPOSITORY

GOOD = """# Models
## agent
**provider**: ollama
**host**: http://127.0.0.1:9999/
**model**: tiny
**stop**: ["\\n", "END"]
**temperature**: 0.2
**seed**: 7
**context_tokens**: 2048
## summarizer
**provider**: extractive
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "llm.md"
    path.write_text(GOOD)
    return path


def test_the_shipped_file_is_good():
    found = load(REPOSITORY / "vault" / "config" / "llm.md")
    assert found["agent"].provider == "embedded"
    assert found["agent"].suited(DIALOGUE).stop == ("\n",)
    assert found["agent"].suited(CHAT).stop == ()
    assert found["summarizer"].suited(DIALOGUE).stop == ()


def test_a_profile_is_read(file: Path):
    profiles = Profiles(file)
    assert profiles.get("agent") == ModelProfile(
        "agent",
        provider="ollama",
        host="http://127.0.0.1:9999",
        model="tiny",
        stop=("\n", "END"),
        temperature=0.2,
        seed=7,
        context_tokens=2048,
        max_tokens=0,
    )
    assert profiles.get("summarizer").provider == "extractive"
    assert profiles.get("summarizer").request("Tell it.").stop == (), "not that of the acts"
    assert {each.name for each in profiles} == {"agent", "summarizer"}


def test_a_request_takes_the_profile_and_what_is_given_comes_first(file: Path):
    profile = Profiles(file).get("agent")
    request = profile.request("Hello", cache_key="mira")
    assert (request.prompt, request.seed, request.temperature) == ("Hello", 7, 0.2)
    assert (request.stop, request.cache_key) == (("\n", "END"), "mira")
    other = profile.request("Hello", seed=1, stop=(), max_tokens=5, json_schema={"enum": ["a"]})
    assert (other.seed, other.stop, other.max_tokens) == (1, (), 5)
    assert other.json_schema == {"enum": ["a"]}


@pytest.mark.parametrize(
    ("wrong", "line", "reason"),
    [
        ("**provider**: ollam", 3, "none of embedded"),
        ("**temperature**: hot", 3, "not a number"),
        ("**max_tokens**: 0", 3, "not between 1"),
        ("**stop**: newline", 3, "not a list of strings"),
        ('**stop**: [""]', 3, "not a list of strings"),
        ("**stop**: [1]", 3, "not a list of strings"),
        ("**time_limit**: 0", 3, "not between 0.1"),
        ("**seed**: yes", 3, "not a whole number"),
        ("**api_key**: secret", 3, "nothing reads api_key"),
        ("**host**: ftp://example", 3, "is no address"),
        ("**host**: http://x:99999", 3, "is no address"),
        ("**provider**: ollama", 2, "needs the name of a model"),
        ("**provider**: openai\n**model**: m", 2, "needs one"),
        ("**form**: chatty", 3, "none of auto"),
        ("**server**: lmstudio", 3, "none of auto"),
        ("**prompt_tokens**: 5", 3, "not between 256"),
        ("**provider**: scripted\n**model_file**: a.gguf", 4, "loads no file"),
    ],
)
def test_wrong_values_are_refused_with_file_line_and_reason(
    tmp_path: Path, wrong: str, line: int, reason: str
):
    path = tmp_path / "llm.md"
    path.write_text(f"# Models\n## agent\n{wrong}\n## summarizer\n**max_tokens**: 9\n")
    with pytest.raises(ConfigError, match=reason) as caught:
        load(path)
    assert caught.value.path == path
    assert line <= caught.value.line <= line + 1


def test_what_a_profile_leaves_open_follows_from_its_model(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text("## agent\n**dry_multiplier**: 0.8\n## summarizer\n**max_tokens**: 9\n")
    agent = load(path)["agent"]
    chat, line = agent.suited(CHAT, 4096), agent.suited(DIALOGUE, 32768)
    assert (chat.form, chat.prompt_tokens, chat.max_tokens, chat.stop) == ("chat", 3072, 400, ())
    assert (line.prompt_tokens, line.max_tokens, line.stop) == (8000, 60, ("\n",))
    assert (chat.dry_multiplier, line.dry_multiplier) == (0, 0.8)
    own = "**form**: script\n**prompt_tokens**: 900\n**max_tokens**: 5\n**stop**: []"
    path.write_text(f"## agent\n{own}\n## summarizer\n**max_tokens**: 9\n")
    script = load(path)["agent"].suited(CHAT, 4096)
    assert (script.form, script.prompt_tokens, script.max_tokens) == ("script", 900, 5)
    assert script.stop == ()


def test_a_file_of_an_earlier_version_can_be_read(tmp_path: Path):
    path = tmp_path / "llm.md"
    old = "**format**: script\n**reply_tokens**: 300\n**second_look**: yes"
    path.write_text(f"## agent\n{old}\n## summarizer\n**max_tokens**: 9\n")
    assert load(path)["agent"].form == "script"


def test_only_the_shipped_model_is_a_stopgap(tmp_path: Path):
    path, both = tmp_path / "llm.md", "## agent\n**time_limit**: 9\n## summarizer\n"
    path.write_text(f"{both}**max_tokens**: 9\n")
    assert load(path)["agent"].is_stopgap
    path.write_text(f"{both}**model_file**: b.gguf\n")
    assert not load(path)["agent"].is_stopgap, "they share one server, and so its file"


def test_profiles_share_one_embedded_server(tmp_path: Path):
    path, both = tmp_path / "llm.md", "## agent\n**model_file**: a.gguf\n## summarizer\n"
    path.write_text(f"{both}**context_tokens**: 4096\n")
    shared = embedded_profile(path, load(path).values())
    assert shared is not None
    assert (shared.model_file, shared.context_tokens) == ("a.gguf", 4096)
    path.write_text(f"{both}**model_file**: b.gguf\n")
    with pytest.raises(ConfigError, match="'agent' and 'summarizer' name different"):
        load(path)


def test_a_wrong_edit_keeps_the_last_good_profiles(file: Path):
    problems: list[ConfigError] = []
    profiles = Profiles(file, problems.append)
    assert profiles.get("agent").model == "tiny"
    file.write_text(GOOD.replace("0.2", "warm"))
    assert profiles.get("agent").temperature == 0.2
    assert profiles.problem is problems[0]
    file.write_text(GOOD.replace("0.2", "0.9"))
    assert profiles.get("agent").temperature == 0.9
    assert profiles.problem is None


def test_what_is_missing_or_doubled_is_named(tmp_path: Path, file: Path):
    none = Profiles(tmp_path / "none.md")
    assert none.get("agent").provider == "embedded", "which serves without a file"
    assert none.problem is not None
    with pytest.raises(ConfigError, match="no profile 'poet'"):
        Profiles(file).get("poet")
    file.write_text("## agent\n**max_tokens**: 5\n")
    with pytest.raises(ConfigError, match="'summarizer' is missing"):
        load(file)
    file.write_text("## agent\n**max_tokens**: 5\n## Agent\n**max_tokens**: 5\n")
    with pytest.raises(ConfigError, match="two profiles 'agent'"):
        load(file)


SEVERAL = """## agent
**provider**: ollama
**model**: tiny
**in_flight**: 3
**host**:
- http://one:11434
- two:8000, provider: openai, model: Org/Large-7B, in_flight: auto

* <http://three:8080/>, provider: openai, server: llama.cpp, time_limit: 9
_What is said of it_
- no host
## summarizer
**provider**: openai
**model**: tiny
**host**: http://one:8000, http://two:8000
"""


def test_of_several_servers_the_first_is_asked_and_the_others_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path = tmp_path / "llm.md"
    path.write_text(SEVERAL)
    with caplog.at_level(logging.WARNING):
        agent, summarizer = load(path).values()
    assert (agent.provider, agent.host, agent.model) == ("ollama", "http://one:11434", "tiny")
    assert (agent.in_flight, agent.server, agent.time_limit) == (3, "auto", 60)
    assert "http://one:11434 is asked, two:8000 and <http://three:8080/> not" in agent.note
    assert summarizer.host == "http://one:8000"
    assert summarizer.note in caplog.text
    own = "- http://one:11434, provider: openai, in_flight: 5"
    path.write_text(SEVERAL.replace("- http://one:11434", own))
    agent = load(path)["agent"]
    assert (agent.provider, agent.in_flight) == ("openai", 5), "what it has of its own holds"


@pytest.mark.parametrize("host", ["http://one:1", "\n- http://one:1", "\n- one:1, in_flight: 2"])
def test_a_list_of_one_is_one(tmp_path: Path, host: str):
    path = tmp_path / "llm.md"
    text = f"## agent\n**provider**: ollama\n**model**: m\n**host**: {host}\n## summarizer\n"
    path.write_text(f"{text}**max_tokens**: 9\n")
    agent = load(path)["agent"]
    assert (agent.host, agent.in_flight, agent.note) == ("http://one:1", 2, "")


@pytest.mark.parametrize(
    ("host", "line", "reason"),
    [
        ("\n- ftp://b", 5, "is no address"),
        ("\n- http://a:1, colour: red", 5, "nothing reads colour"),
        ("\n- http://b:1, in_flight: 0", 5, "not between 1"),
        ("http://a:1 http://b:1", 4, "is no address"),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, host: str, line: int, reason: str):
    path = tmp_path / "llm.md"
    text = f"## agent\n**provider**: ollama\n**model**: m\n**host**: {host}\n## summarizer\n"
    path.write_text(f"{text}**max_tokens**: 9\n")
    with pytest.raises(ConfigError, match=reason) as caught:
        load(path)
    assert caught.value.line == line


def test_a_model_for_itself_takes_the_place_of_the_list(tmp_path: Path):
    text = with_settings(SEVERAL, "agent", {"provider": "scripted", "host": "", "model": ""})
    path = tmp_path / "llm.md"
    path.write_text(text)
    agent = load(path)["agent"]
    assert (agent.provider, agent.host, agent.note) == ("scripted", "", "")
    assert "- no host" in text
    assert "two:8000, provider" not in text


def test_a_list_that_the_provider_does_not_ask_is_left_alone(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text(with_settings(SEVERAL, "agent", {"provider": "embedded", "model": ""}))
    agent = load(path)["agent"]
    assert (agent.provider, agent.host, agent.note) == ("embedded", "", "")
    assert "two:8000, provider" in path.read_text()


def test_the_embedder_has_one_server(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text("## embedder\n**provider**: ollama\n**model**: m\n**host**:\n- a:1\n- b:1\n")
    with pytest.raises(ConfigError, match="no list"):
        load_embedder(path)
