"""The application, and what an error ends with."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dips
from dips._cli.console import output, remarks, show_what_can_be_shown
from dips._tools.interrupts import was_stopped
from dips._tools.wording import command_line
from dips.exceptions import DipsError, StoppedError, UserError

EXIT_CODES = """
Exit codes: 0 success · 1 a bug in dips, or failed trials · 2 the command is malformed · 3 the data or a setting cannot
be used · 4 the output exists already or cannot be written · 5 the model folder is damaged · 6 more suspect labels than
--fail-above allows · 130 stopped with Ctrl-C.
"""
_A_BUG = 1
_NO_MEMORY = "There is not enough memory for this table; use fewer rows or columns."
_OF_MEMORY = ("bad_alloc", "bad allocation", "Cannot allocate memory", "malloc of size")

_ORDER = ("inspect", "fit", "audit", "review", "compare", "predict", "report", "sign", "verify", "demo", "info")


class _InOrder(TyperGroup):
    """The most used commands first."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def _print_version(wanted: bool) -> None:
    if wanted:
        output().say(f"dips {dips.__version__}")
        raise typer.Exit


_VERSION = typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)

app = typer.Typer(
    cls=_InOrder,
    name="dips",
    help="Better classifiers when labels are few and some of them are wrong.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.callback()
def _every_command(version: Annotated[bool, _VERSION] = False) -> None:
    """Options that need no command."""


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code.

    Only our own errors are the user's to solve. Any other exception is a bug, and is reported as one.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    show_what_can_be_shown()
    _add_commands()
    try:
        with command_line():
            code = app(arguments, standalone_mode=True)
    except SystemExit as exit_:
        if isinstance(exit_.code, str):  # words instead of a code, as from the demo where matplotlib is missing
            return _complain(exit_.code, UserError.exit_code, arguments)
        if exit_.code == StoppedError.exit_code:
            return _complain("Stopped.", StoppedError.exit_code, arguments)
        return int(exit_.code or 0)
    except DipsError as error:
        return _complain(str(error), error.exit_code, arguments, getattr(error, "__notes__", []))
    except KeyboardInterrupt:
        return _complain("Stopped.", StoppedError.exit_code, arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away; that is its right
        return 0
    except MemoryError:
        return _complain(_NO_MEMORY, UserError.exit_code, arguments)
    except Exception as error:
        if was_stopped():  # a library swallowed the Ctrl-C and stumbled over what it missed
            return _complain("Stopped. The same command continues.", StoppedError.exit_code, arguments)
        if any(words in str(error) for words in _OF_MEMORY):  # a library's own words for it
            return _complain(_NO_MEMORY, UserError.exit_code, arguments)
        if missing := _missing_package(error):
            return _complain(missing, UserError.exit_code, arguments)
        return _complain(_bug_report(error, arguments), _A_BUG, arguments)
    return int(code or 0)


def _add_commands() -> None:
    commands = importlib.import_module("dips._cli.commands")
    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}")


def _missing_package(error: Exception) -> str | None:
    """Say that somebody else's package is not there; None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    package = error.name.partition(".")[0]
    if package == "dips":
        return None
    return (
        f"The Python package {package!r} is not installed, and something needs it here. If dips was installed without "
        f"the packages that it requires, install it again; otherwise install {package!r}."
    )


def _bug_report(error: Exception, arguments: list[str]) -> str:
    """Say that it is our fault and how to report it; the traceback goes to a file, or to the error stream on demand."""
    details = "".join(traceback.format_exception(error))
    what = "the traceback above"
    if os.environ.get("DIPS_TRACEBACK"):
        sys.stderr.write(details)
    else:
        what = _written_down(f"dips {dips.__version__}, Python {sys.version}\n{arguments}\n\n{details}")
    return (
        f"This is a bug in dips, not in your data ({type(error).__name__}: {error}). Please report it to the "
        f"project's issue tracker, with {what}. Read that first: it may quote your data."
    )


def _written_down(details: str) -> str:
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="dips-bug-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(details)
    except OSError:
        return "the traceback that DIPS_TRACEBACK=1 prints"
    return f"the file {file.name}"


def _complain(message: str, code: int, arguments: list[str], notes: Sequence[str] = ()) -> int:
    """Say it in a sentence, on the error stream; for machines on the output as well."""
    if "--json" in arguments:
        known = {"notes": list(notes)} if notes else {}
        with contextlib.suppress(OSError, ValueError):
            print(json.dumps({"error": message, "exit_code": code} | known), flush=True)
    remarks().say_notes(notes)
    remarks().say(f"dips: {message}")
    return code
