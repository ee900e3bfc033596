"""``python -m dips`` is the command ``dips``."""

from dips._cli import main

if __name__ == "__main__":
    main()
