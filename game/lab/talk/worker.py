"""The process in which talks are played: ``python -m game.lab.talk.worker <folder>``.

It loads Evennia once, makes the world of each set in a child, and plays each scene in a child of
its own, on a copy of that world. What is said is told on standard output, one JSON object a line.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from game.lab.simulations import world
from game.lab.simulations.plan import Lab, SimulationPlan
from game.lab.simulations.process import OVER, in_child, tell, work_in
from game.lab.talk.job import Job, kept_log
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import Profiles, embedded_profile
from keepsake.paths import Places, places

_LOADS = 120.0
"""Real seconds that the embedded model gets to load."""


def _live(lab: Lab) -> None:
    try:
        _play_all(lab, Job.read(lab.folder))
    finally:
        end_model(places())
    tell({"op": OVER})


def _play_all(lab: Lab, job: Job) -> None:
    plan = SimulationPlan("talk", seed=job.seed)
    tell({"op": "setting up"})
    world.set_up()
    from game.lab.talk import playing, stage  # noqa: PLC0415 - needs Evennia to be set up

    world.make_tables(lab)
    empty = _kept(lab, "empty.db3")
    _start_model(places())
    for talks in job.sets():
        shutil.copyfile(empty, places().database)
        _in_child(lab, partial(stage.build, talks, plan))
        built = _kept(lab, "built.db3")
        for scene in talks.scenes:
            _clear(lab, built)
            tell({"op": "scene", "scene": scene.id, "agent": scene.agent, "part": talks.part})
            _in_child(lab, partial(playing.play, talks, scene, plan, tell))


def _kept(lab: Lab, name: str) -> Path:
    target = lab.folder / name
    shutil.copyfile(places().database, target)
    return target


def _clear(lab: Lab, built: Path) -> None:
    """The world as it was built; nobody remembers anything."""
    for left in places().database.parent.glob(f"{places().database.name}*"):
        left.unlink()
    shutil.copyfile(built, places().database)
    for folder in (places().agents, places().index, places().events):
        shutil.rmtree(folder, ignore_errors=True)


def _in_child(lab: Lab, work: Callable[[], None]) -> None:
    def worked() -> None:
        work()
        world.close_database()

    in_child(worked, lambda _: KeepsakeError("A talk broke off", f"See {kept_log(lab.folder)}"))


def _start_model(here: Places) -> None:
    """Have the embedded model ready, if it is to answer: no answer is to wait for its loading."""
    from keepsake.models.embedded.supervisor import Embedded  # noqa: PLC0415 - brings the clients along

    profiles = Profiles(here.config / "llm.md")
    used = embedded_profile(profiles.path, profiles)
    if used is None:
        return
    model, until = Embedded(here), time.monotonic() + _LOADS
    model.use(used.model_file, used.context_tokens)
    while not model.watch():
        if time.monotonic() > until:
            raise model.problem or KeepsakeError("The embedded model does not start", "")
        time.sleep(0.2)


def end_model(here: Places) -> None:
    """End the embedded model, if it runs: it has a session of its own, and ends with nobody."""
    from keepsake.models.embedded.supervisor import Embedded  # noqa: PLC0415 - brings the clients along

    if here.model_pid.exists():
        Embedded(here).stop()


if __name__ == "__main__":
    work_in(_live)
