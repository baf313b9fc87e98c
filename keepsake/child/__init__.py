"""Child processes of the game: servers on loopback that it starts, watches and ends."""
