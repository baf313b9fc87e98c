"""A process that writes events until it is killed: ``event_maker.py <folder> <file bytes>``.

It prints the number of events that the log has said are written, again and again.
"""

import sys
from itertools import count
from pathlib import Path

from keepsake.events.log import EventLog
from keepsake.events.types import MemoryChange, Thought


def main(folder: Path, file_bytes: int) -> None:
    log = EventLog(folder, file_bytes=file_bytes, buffer=100_000)
    head = "who she is, and all that she may do. " * 40
    for n in count(1):
        if n % 2:
            log.emit(MemoryChange(agent="Mira", op="append", n=n, of="act", size=n))
        else:
            prompt = f"{head}\n{n}"
            log.emit(
                Thought(
                    agent="Mira", trigger="idle", priority="idle", outcome="acted", prompt=prompt
                )
            )
        if n % 20 == 0 and log.flush():
            print(n, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
