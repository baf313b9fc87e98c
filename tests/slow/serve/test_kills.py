"""The service is killed under load, again and again: nothing that was answered is lost."""

import os
import random
import signal
import threading
import time

import httpx

from keepsake import Memory

KILLS = int(os.environ.get("KEEPSAKE_KILLS", "4"))
"""How often it is killed; two hundred kills take an hour."""
WRITERS = 4
PATIENCE = 120.0
"""Seconds that a request may take on a busy machine. A killed service ends its connections."""


def write(address, headers, kept, writer, over):
    with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
        count = 0
        while not over.is_set():
            count += 1
            words = f"Word {count} of writer {writer} at {time.monotonic_ns()}."
            try:
                said = {"speaker": f"Tom {writer}", "words": words, "to": ["Mira"]}
                answer = client.post("/agents/mira/perceive", json=said)
            except httpx.TransportError:
                return
            if answer.is_success:
                kept.append((answer.json()["number"], words))


def test_nothing_that_was_answered_is_lost_by_kills(services):
    chance = random.Random(54)
    service = services(options=["--per-minute", "1000000"])
    headers = {"Authorization": f"Bearer {service.token()}"}
    kept = []
    for _ in range(KILLS):
        over = threading.Event()
        given = [(service.address, headers, kept, each, over) for each in range(WRITERS)]
        writers = [threading.Thread(target=write, args=each) for each in given]
        before = len(kept)
        for each in writers:
            each.start()
        while len(kept) < before + 20:  # it is under load
            assert any(each.is_alive() for each in writers), "no writer gets an answer"
            time.sleep(0.01)
        time.sleep(chance.random())
        service.stop(signal.SIGKILL)
        over.set()
        for each in writers:
            each.join()
        service.start()
    assert service.stop() == 0
    with Memory(service.folder / "mira") as mira:
        found = {each.number: each.words for each in mira._opened.archive.read(1, 10**9)}
        assert sorted(found) == list(range(1, mira.status().memories + 1))
    assert len(kept) >= 20 * KILLS
    assert [(number, words) for number, words in kept if found.get(number) != words] == []
