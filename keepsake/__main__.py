"""``python -m keepsake``: the same as the ``keepsake`` command."""

from keepsake.cli.app import main

if __name__ == "__main__":
    main()
