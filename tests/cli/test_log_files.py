"""Reading the end of a log, and what is added to it."""

from threading import Thread

from game.cli.logs.log_files import follow, tail


def test_tail_gives_the_last_lines(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {n} {'x' * 300}\n" for n in range(5000)))
    assert [line.split()[1] for line in tail(log, 3)] == ["4997", "4998", "4999"]
    assert len(tail(log, 1000)) == 1000
    assert tail(log, 0) == tail(tmp_path / "none.log", 5) == []


def heard(log, write):
    """The lines that a listener gets from the moment before ``write``, up to "end"."""
    lines = follow(log, poll=0.01)
    got = []
    listener = Thread(target=lambda: got.extend(iter(lambda: next(lines), "end")))
    listener.start()
    write()
    listener.join(60)
    assert not listener.is_alive()
    return got


def test_follow_waits_for_a_file_and_joins_torn_lines(tmp_path):
    log = tmp_path / "a.log"

    def write():
        with log.open("w") as file:
            for part in ("one\ntw", "o\nthr", "ee\nend\n"):
                file.write(part)
                file.flush()

    assert heard(log, write) == ["one", "two", "three"]


def test_follow_goes_on_in_what_takes_its_place_or_was_cut(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("a long old line\n")

    def write():
        log.rename(tmp_path / "a.log.1")
        log.write_text("new\nend\n")

    assert heard(log, write) == ["new"]
    log.write_text("another long old line\n")
    assert heard(log, lambda: log.write_text("new\nend\n")) == ["new"]
