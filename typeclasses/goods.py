"""Things that can be worn; apart, as Evennia's clothes are only there once it has started."""

from __future__ import annotations

from evennia.contrib.game_systems.clothing.clothing import ContribClothing

from typeclasses.objects import Object


class Garment(Object, ContribClothing):
    """A thing that can be worn; ``db.clothing_type`` is one of Evennia's, such as ``hat``."""
