"""The application, and what an error ends with."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from dips._cli.console import printable
from dips.exceptions import UserError

EXIT_CODES = """
Exit codes: 0 done · 1 a fault of dips itself · 2 the command was written wrongly · 3 the data or a setting cannot be
used · 4 the output is there already or cannot be written · 5 the model folder is damaged · 6 more suspect labels than
--fail-above allows · 130 stopped with Ctrl-C.
"""


class StoppedError(UserError):
    """Ctrl-C; the message says what becomes of the work."""

    exit_code = 130


_ORDER = ("fit", "audit", "predict", "report", "demo", "info")


class _InOrder(TyperGroup):
    """The most used commands first."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


app = typer.Typer(
    cls=_InOrder,
    name="dips",
    help="Better classifiers when labels are few and some of them are wrong." + EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(arguments, standalone_mode=True)
    except SystemExit as exit_:
        if isinstance(exit_.code, str):  # words instead of a code, as from the demo where matplotlib is missing
            return _complain(exit_.code, UserError.exit_code, arguments)
        return int(exit_.code or 0)
    except UserError as error:
        return _complain(str(error), error.exit_code, arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away; that is its right
        return 0
    except MemoryError:
        return _complain("There is not enough memory for this table; take fewer rows or columns.", 3, arguments)
    except (ValueError, TypeError) as error:  # a refusal by an estimator, which says what it wants
        if os.environ.get("DIPS_TRACEBACK"):
            raise
        return _complain(str(error), 3, arguments)
    return int(code or 0)


def _complain(message: str, code: int, arguments: list[str]) -> int:
    """Say it in a sentence, on the error stream; for machines on the output as well."""
    if "--json" in arguments:
        print(json.dumps({"error": message, "exit_code": code}))
    Console(stderr=True, highlight=False, soft_wrap=True).print(printable(f"dips: {message}"))
    return code
