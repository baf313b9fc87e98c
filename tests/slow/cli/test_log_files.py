"""Reading the end of a log, and what is added to it."""

from contextlib import closing

from keepsake.cli.logs import follow_text, tail


def test_tail_gives_the_last_lines(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {n} {'x' * 300}\n" for n in range(5000)))
    assert [line.split()[1] for line in tail(log, 3)] == ["4997", "4998", "4999"]
    assert len(tail(log, 1000)) == 1000
    assert tail(log, 0) == tail(tmp_path / "none.log", 5) == []


def test_follow_joins_torn_lines_and_goes_on_in_what_takes_its_place_or_was_cut(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("older\na long old line\n")
    with closing(follow_text(log, 1)) as lines:
        assert next(lines) == "a long old line"
        with log.open("a") as file:
            for part in ("one\ntw", "o\n"):
                file.write(part)
                file.flush()
        assert [next(lines), next(lines)] == ["one", "two"]
        log.rename(tmp_path / "a.log.1")
        log.write_text("another long line\n")
        assert next(lines) == "another long line"
        log.write_text("cut\n")
        assert next(lines) == "cut"
