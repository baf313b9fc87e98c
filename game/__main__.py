"""``python -m game``: the same as the ``keepsake`` command."""

from game.cli.app import main

if __name__ == "__main__":
    main()
