from __future__ import annotations

from pathlib import Path

import pytest

from game.llm.profiles import ModelProfile, Profiles, embedded_profile, load
from game.mind.errors import ConfigError
from game.paths import REPOSITORY

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
    assert found["agent"].stop == ("\n",)
    assert found["summarizer"].stop == ()


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
        max_tokens=60,
    )
    assert profiles.get("summarizer").provider == "extractive"
    assert profiles.get("summarizer").request("Tell it.").stop == (), "not that of the acts"
    assert {each.name for each in profiles} == {"agent", "summarizer"}


def test_a_request_takes_the_profile_and_what_is_given_comes_first(file: Path):
    profile = Profiles(file).get("agent")
    request = profile.request("Hello", cache_key="mira")
    assert (request.prompt, request.seed, request.temperature) == ("Hello", 7, 0.2)
    assert (request.stop, request.cache_key) == (("\n", "END"), "mira")
    other = profile.request("Hello", seed=1, stop=(), max_tokens=5, grammar="root ::= 'a'")
    assert (other.seed, other.stop, other.max_tokens) == (1, (), 5)
    assert other.grammar == "root ::= 'a'"


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
        ("**format**: chatty", 3, "none of auto"),
        ("**server**: lmstudio", 3, "none of auto"),
        ("**reply_tokens**: 5", 3, "not between 100"),
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
