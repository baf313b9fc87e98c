"""The agents' log file and the faults made from it: fields, tracebacks, secrets, hostile text."""

import logging
import resource
from contextlib import contextmanager

import pytest

from keepsake.errors import KeepsakeError
from keepsake.events.files import events
from keepsake.events.log import EventLog
from keepsake.events.log_file import AgentsLogFile, FaultHandler, open_log
from keepsake.logs import ROOT, Subsystem, get_logger, logged

log = get_logger(Subsystem.COMPACTION)
KEY = "sk-a-key-of-somebody"
STAMP = len("2026-11-28 22:04:11 ")


@pytest.fixture
def written(tmp_path):
    """A function that returns the lines of the log, without times, and the fault events so far."""
    event_log = EventLog(tmp_path / "events", secrets=[KEY])
    open_log(tmp_path / "agents.log", [KEY], FaultHandler(event_log))

    def read():
        assert event_log.flush(60)
        lines = (tmp_path / "agents.log").read_text().splitlines()
        lines = [line if line.startswith(" ") else line[STAMP:] for line in lines]
        return lines, list(events(tmp_path / "events"))

    yield read
    event_log.close()
    everything = logging.getLogger(ROOT)
    for handler in list(everything.handlers):
        everything.removeHandler(handler)
        handler.close()
    everything.propagate = True
    everything.setLevel(logging.NOTSET)


def log_file():
    """Return the handler that writes the file."""
    (found,) = (x for x in logging.getLogger(ROOT).handlers if isinstance(x, AgentsLogFile))
    return found


def raised(error):
    """Return the error with a traceback."""
    try:
        raise error
    except type(error) as caught:
        return caught


def test_a_line_has_level_subsystem_agent_message_and_fields(written):
    log.info("Compaction complete", agent="Old Tom", kept=12, share=0.25, why="count is due")
    log.info("No agent has this")
    lines, faults = written()
    assert lines == [
        'INFO compaction Old Tom: Compaction complete kept=12 share=0.25 why="count is due"',
        "INFO compaction No agent has this",
    ]
    assert faults == []


def test_an_error_keeps_its_traceback_and_becomes_a_fault_with_its_agent(written):
    log.error("The compaction failed", agent="Mira", exc_info=raised(ValueError("odd")))
    (first, *below), (fault,) = written()
    assert first == "ERROR compaction Mira: The compaction failed"
    assert below[0] == "    Traceback (most recent call last):"
    assert any("in raised" in line for line in below)
    assert below[-1] == "    ValueError: odd"
    assert (fault["kind"], fault["level"]) == ("error", "error")
    assert (fault["agent"], fault["subsystem"]) == ("Mira", "compaction")
    assert fault["text"] == "The compaction failed: ValueError: odd"


def test_a_fault_tells_the_cure_of_a_known_error_once(written):
    error = raised(KeepsakeError("the disk is full", "Free some space"))
    log.warning("The night failed", agent="Mira", step="reflect", exc_info=error)
    log.error(str(error), agent="Mira", exc_info=error)
    assert [(each["level"], each["text"]) for each in written()[1]] == [
        ("warning", f"The night failed (step=reflect): {error}"),
        ("error", str(error)),
    ]


def test_a_call_may_log_for_another_subsystem(written):
    log.warning("The warm-up failed", agent="Mira", subsystem=Subsystem.WARM_UP)
    lines, (fault,) = written()
    assert lines == ["WARNING warm-up Mira: The warm-up failed"]
    assert fault["subsystem"] == "warm-up"


def test_a_block_that_is_logged_fails_alone(written):
    with logged(log, "Housekeeping failed", agent="Mira"):
        raise KeyError("lost")
    lines, (fault,) = written()
    assert lines[0] == "ERROR compaction Mira: Housekeeping failed"
    assert lines[-1] == "    KeyError: 'lost'"
    assert fault["text"] == "Housekeeping failed: KeyError: 'lost'"


@pytest.mark.parametrize("broken", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J"])
def test_no_text_of_others_begins_a_line_or_controls_the_terminal(written, broken):
    forged = f"soup{broken}2026-11-28 22:04:11 ERROR compaction Mira: forged"
    log.info(f"say {forged}", agent=f"Mi{broken}ra", said=forged)
    log.error("It failed", exc_info=raised(ValueError(forged)))
    lines, _ = written()
    assert len([line for line in lines if not line.startswith(" ")]) == 2
    assert all(line.isprintable() for line in lines)


def test_secrets_are_masked_in_message_fields_and_traceback(written):
    login = "soup\nconnect Tom c67jHL8p"
    log.info(f"say {login}", key=KEY, said=login)
    log.error("It failed", exc_info=raised(ValueError(f"no {KEY} and\nconnect Tom c67jHL8p")))
    lines, (fault,) = written()
    text = "\n".join(lines) + str(fault)
    assert "c67jHL8p" not in text
    assert KEY not in text
    said = r"soup\nconnect Tom [secret]"
    assert lines[0] == f'INFO compaction say {said} key=[secret] said="{said}"'


@contextmanager
def no_room_after(bytes_left, path):
    """Let files grow by no more than some bytes beyond the size of this one."""
    limit = path.stat().st_size + bytes_left
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("bytes_left", [0, 1, 40, 300])
def test_a_full_disk_tears_no_line_and_is_said_afterwards(written, tmp_path, capsys, bytes_left):
    # Long, so that the file of events, which gets the two errors, stays within the limit.
    before = "Before" * 1000
    log.info(before)
    with no_room_after(bytes_left, tmp_path / "agents.log"):
        log.error("Lost", exc_info=raised(ValueError("odd " * 200)))
        log.error("Lost, too", exc_info=raised(ValueError("odd " * 200)))
    log.info("After")
    log.info("Later")
    lines, (*_, fault) = written()
    *kept, said, last = lines
    assert kept == [f"INFO compaction {before}", "INFO compaction After"]
    assert said.startswith("WARNING events This log could not be written ([Errno 27]")
    assert last == "INFO compaction Later"
    assert said.removeprefix("WARNING events ") == fault["text"]
    assert capsys.readouterr().err == ""


def test_a_bug_in_a_line_is_still_printed(written, capsys):
    handler = log_file()
    handler.handle(logging.LogRecord(ROOT, logging.INFO, "", 1, "%d apples", ("no",), None))
    assert "TypeError: %d format" in capsys.readouterr().err
