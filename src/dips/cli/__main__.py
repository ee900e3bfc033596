"""``python -m dips.cli`` is the command ``dips``."""

from dips.cli import main

if __name__ == "__main__":
    main()
