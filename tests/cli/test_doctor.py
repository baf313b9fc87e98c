"""The doctor names what is wrong, and where, and the cure."""

import json
import socket

from game.cli.world import home
from game.server.private_files import read_or_create
from keepsake.markdown_config import with_settings
from keepsake.web.live.door import SHORTEST_TOKEN, TOKEN_VARIABLE
from tests.cli.conftest import Copy
from tests.empty_tables import lay_tables
from tests.fakes.model_server import FakeModelServer, Reply


def examined(copy):
    done = copy.keepsake("doctor", "--json")
    findings = json.loads(done.stdout)
    wrong = [finding for finding in findings if not finding["well"]]
    assert done.returncode == (1 if wrong else 0)
    return findings, wrong


def test_all_is_well_in_a_fresh_home(copy):
    home.prepare(copy.here)
    findings, wrong = examined(copy)
    assert wrong == []
    assert {finding["subject"] for finding in findings} >= {"Python", "Ports", "Vault", "Config"}


def test_a_broken_configuration_is_named_with_file_and_line(copy):
    home.prepare(copy.here)
    broken = copy.here.config / "memory_compaction.md"
    broken.write_text("# Sizes\n\n**immediate_window**: many\n")
    _, (finding,) = examined(copy)
    assert finding["what"].startswith(f"{broken}, line 3: immediate_window")
    assert "'many'" in finding["what"]
    assert finding["cure"]


def test_a_broken_prompt_and_a_strategy_of_before_are_named(copy):
    home.prepare(copy.here)
    prompt = copy.here.config / "prompts" / "summarise.md"
    prompt.write_text(prompt.read_text().replace("{{ words }}", "{{ word }}"))
    (copy.here.config / "compaction" / "diary.md").write_text("```prompt\n- {{ memories }}\n```\n")
    _, findings = examined(copy)
    diary, named = sorted(findings, key=lambda finding: "diary.md" not in finding["what"])
    assert "the part 'prompt' is not expected here" in diary["what"]
    assert "The parts of this file are: wanted" in diary["cure"]
    assert "there is no variable 'word'" in named["what"]


def test_a_token_for_the_metrics_that_opens_to_nobody_is_told(copy):
    home.prepare(copy.here)
    short = Copy({**copy.environ, TOKEN_VARIABLE: "brass-key-7"})
    _, (finding,) = examined(short)
    assert finding["subject"] == "Metrics"
    assert TOKEN_VARIABLE in finding["what"]
    assert "openssl rand" in finding["cure"]
    assert "brass-key-7" not in json.dumps(finding)
    good = Copy({**copy.environ, TOKEN_VARIABLE: "k" * SHORTEST_TOKEN})
    findings, wrong = examined(good)
    assert wrong == []
    assert "with a token" in next(x["what"] for x in findings if x["subject"] == "Metrics")


def test_a_file_of_a_model_that_is_not_there_is_named(copy):
    home.prepare(copy.here)
    path = copy.here.config / "llm.md"
    path.write_text(with_settings(path.read_text(), "agent", {"model_file": "absent.gguf"}))
    _, (finding,) = examined(copy)
    assert finding["subject"] == "Embedded model"
    assert str(copy.here.models / "absent.gguf") in finding["what"]
    assert "keepsake model list" in finding["cure"]


def test_of_several_servers_the_first_is_asked_and_that_is_told(copy):
    home.prepare(copy.here)
    with FakeModelServer() as asked, FakeModelServer() as other:
        asked.kind = "llama.cpp"
        asked.always("/props", Reply(extra={"total_slots": 5}))
        path = copy.here.config / "llm.md"
        values = {
            "provider": "openai",
            "model": "fake",
            "host": f"{asked.address}, {other.address}",
        }
        path.write_text(with_settings(path.read_text(), "agent", values))
        findings, (wrong,) = examined(copy)
    told = {each["subject"].rpartition(" ")[2]: each["what"] for each in findings}
    assert told[asked.address] == "ready; llama.cpp, form dialogue, 5 at once"
    assert other.calls() == []
    assert wrong["subject"] == "Profile agent"
    assert f"{other.address} not" in wrong["what"]
    assert "docs/models.md" in wrong["what"]


def test_a_missing_configuration_is_named(copy):
    home.prepare(copy.here)
    (copy.here.config / "memory_compaction.md").unlink()
    _, (finding,) = examined(copy)
    assert finding["what"].endswith("memory_compaction.md is missing")


def test_a_damaged_database_is_named(copy, tables):
    lay_tables(tables, copy.here)
    home.prepare(copy.here)
    findings, wrong = examined(copy)
    assert wrong == []
    assert "SQLite" in next(x["what"] for x in findings if x["subject"] == "Database")
    copy.here.database.write_bytes(b"no database " * 1000)
    _, (finding,) = examined(copy)
    assert "is damaged (file is not a database)" in finding["what"]
    assert "keepsake restore FILE --replace" in finding["cure"]


def test_an_event_log_that_has_grown_too_large_is_named(copy):
    home.prepare(copy.here)
    copy.here.events.mkdir(parents=True)
    with (copy.here.events / "events-2026-05-01-0000000001.jsonl.gz").open("wb") as file:
        file.truncate(6_000_000_000)  # it takes no room on the disk
    _, (finding,) = examined(copy)
    assert "6,000.0 MB in 1 files" in finding["what"]
    assert "keepsake export" in finding["cure"]


def test_a_taken_port_is_named(copy):
    home.prepare(copy.here)
    with socket.create_server(("127.0.0.1", copy.here.ports.telnet)):
        _, (finding,) = examined(copy)
    assert finding["what"].startswith(f"{copy.here.ports.telnet} (telnet) is in use by")
    assert "KEEPSAKE_PORT_BASE" in finding["cure"]


def test_a_secret_that_others_may_read_is_named(copy):
    home.prepare(copy.here)
    read_or_create(copy.here.admin_password, nbytes=12)
    copy.here.admin_password.chmod(0o644)
    _, (finding,) = examined(copy)
    assert finding["cure"] == f"chmod 600 {copy.here.admin_password}"


def test_people_read_it_too(copy):
    home.prepare(copy.here)
    (copy.here.config / "memory_compaction.md").write_text("**immediate_windoww**: 5\n")
    told = copy.keepsake("doctor")
    assert told.returncode == 1
    assert "✓ Python" in told.stdout
    assert "→ Did you mean immediate_window?" in told.stdout
