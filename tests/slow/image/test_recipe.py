"""The image's recipe, its build context and the compose files, without building anything."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from keepsake.paths import REPOSITORY
from tests.slow.image.chroot import INSTRUCTIONS
from tests.slow.image.recipe import DOCKERFILE, IGNORE, context, excluded, ignores, stages

COMPOSE = ("compose.yaml", "compose.scale.yaml")
PRIVATE = (
    ".env",
    ".git/config",
    ".run/evennia.db3",
    ".run/secret-key",
    ".venv/bin/python",
    ".venv-gateways/bin/litellm",
    ".mypy_cache/3.12/cache.json",
    "game/.env",
    "game/server/logs/server.log",
    "game/server/conf/secret_settings.py",
    "game/evennia.db3",
    "game/evennia.db3-wal",
    "keepsake/.run/admin-password",
    "keepsake/__pycache__/paths.cpython-313.pyc",
    "keepsake/admin-password",
    "keepsake/secret-key",
    "litellm.yaml",
    "vault/agents/Mira/archive/0000000001.jsonl",
    "vault/config/server.key",
    "vault/agents/Mira/memory_id",
    "world/privkey.pem",
    "backup.tar.gz",
    "token",
)
"""What a checkout in use may hold, and no image must."""
NEEDED = (
    "pyproject.toml",
    "requirements-image.lock",
    "keepsake/paths.py",
    "keepsake/py.typed",
    "keepsake/lab/style.html.j2",
    "game/server/conf/settings.py",
    "game/web/static/keepsake/client.js",
    "typeclasses/accounts.py",
    "commands/speech.py",
    "vault/config/prompts/talk.md",
    "world/map.yaml",
    "world/agents/mira.md",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is tracked, with private files in it."""
    folder = tmp_path_factory.mktemp("context")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for name in [*filter(None, listed.stdout.split("\0")), *PRIVATE]:
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_file() and name not in PRIVATE:
            shutil.copyfile(REPOSITORY / name, copy)
        else:
            copy.write_text("private", encoding="utf-8")
    shutil.copyfile(IGNORE, folder / ".dockerignore")
    return folder


def test_the_build_without_docker_knows_every_instruction():
    for instructions in stages(DOCKERFILE.read_text(encoding="utf-8")).values():
        assert {each.name for each in instructions} <= INSTRUCTIONS.keys()


def test_the_build_context_has_what_the_world_needs_and_nothing_private(checkout):
    sent = set(context(checkout))
    assert sent.isdisjoint(PRIVATE)
    assert sent >= set(NEEDED)
    folders = {name.partition("/")[0] for name in sent if "/" in name}
    assert folders == {"keepsake", "game", "typeclasses", "commands", "world", "vault"}


@pytest.mark.parametrize(
    ("pattern", "path", "result"),
    [
        ("**/*.key", "a/b.key", True),
        ("**/*.key", "b.key", True),
        ("*.key", "a/b.key", False),
        ("a", "a/b/c", True),
        ("a\n!a/b", "a/b/c", False),
        ("a\n!a/b\n**/c", "a/b/c", True),
        ("**/.*", "a/.env", True),
        ("**/.*", "a/b.env", False),
    ],
)
def test_patterns_are_read_as_docker_reads_them(pattern, path, result):
    assert excluded(path, ignores(pattern)) is result


def test_every_file_that_the_dockerfile_copies_is_in_the_build_context(checkout):
    sent = context(checkout)
    copied = [
        source
        for instructions in stages(DOCKERFILE.read_text(encoding="utf-8")).values()
        for each in instructions
        if each.name == "COPY" and not each.source_stage
        for source in each.words[:-1]
    ]
    assert copied
    assert [each for each in copied if each != "." and each not in sent] == []


def test_the_last_stage_is_not_root_and_stops_by_sigterm():
    last = {each.name: each for each in stages(DOCKERFILE.read_text(encoding="utf-8"))[""]}
    assert last["USER"].rest not in ("root", "0")
    assert last["STOPSIGNAL"].rest == "SIGTERM"
    assert '"keepsake", "status"' in last["HEALTHCHECK"].rest


def test_the_lock_of_the_image_holds_versions_of_the_developers_lock():
    def pins(name: str) -> set[str]:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        return set(re.findall(r"^[a-z0-9-]+==[\w.+!]+", text, re.M))

    image = pins("requirements-image.lock")
    assert len(image) > 100
    assert image <= pins("requirements.lock")
    assert not image & {each for each in image if each.startswith(("pytest", "ruff", "playwright"))}


# -- compose


def services(name: str) -> dict[str, dict[str, object]]:
    found = yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))
    return dict(found["services"])


def settings_read() -> set[str]:
    """Return the names of the environment variables that the code mentions as strings."""
    found = set[str]()
    for folder in ("keepsake", "game"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            found |= set(re.findall(r'"([A-Z]+_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("name", COMPOSE)
def test_a_compose_file_sets_only_what_the_code_reads(name):
    world = services(name)["keepsake"]
    assert set(world["environment"]) <= settings_read()


@pytest.mark.parametrize("name", COMPOSE)
def test_the_services_and_volumes_of_a_compose_file_exist(name):
    found = yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))
    for service in found["services"].values():
        assert set(service.get("depends_on", ())) <= set(found["services"])
        for mount in service.get("volumes", ()):
            assert mount.partition(":")[0] in found["volumes"]
        for waited in service.get("depends_on", {}):
            assert "healthcheck" in found["services"][waited]


@pytest.mark.parametrize("name", COMPOSE)
def test_only_loopback_publishes_ports(name):
    for service in services(name).values():
        for port in service.get("ports", ()):
            assert str(port).startswith("127.0.0.1:"), port


def test_the_command_of_compose_scale_sets_chroma_in_the_shipped_file(tmp_path):
    text = (REPOSITORY / "compose.scale.yaml").read_text(encoding="utf-8")
    (expression,) = re.findall(r"'(s\|.*\|)'", text)
    copy = tmp_path / "recall.md"
    shutil.copyfile(REPOSITORY / "vault/config/recall.md", copy)
    subprocess.run(["sed", "-i", expression, copy], check=True)
    assert "**chroma**: http://chroma:8200\n" in copy.read_text(encoding="utf-8")


def test_litellm_has_the_version_that_the_tests_run_with():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    (pinned,) = re.findall(r"'(litellm\[proxy\]==[\d.]+)'", makefile)
    assert pinned in (REPOSITORY / "compose.scale.yaml").read_text(encoding="utf-8")


def test_the_citation_has_the_version_of_the_package():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    package = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{cited}"\n' in package
