"""What is printed can fail; what was asked for is still done."""

import io
import json
import sys

import pytest

from dips._cli.app import run as dips
from dips._cli.console import TerminalObserver, make_table, output, print_data, print_json, printable
from dips._tools import interrupts
from dips._tools.files import write_whole
from dips.exceptions import OutputError
from tests.patients import patients

TABLE, _ = patients()


class Full(io.RawIOBase):
    def writable(self):
        return True

    def write(self, data):
        raise OSError(28, "No space left on device")


class Gone(Full):
    def write(self, data):
        raise BrokenPipeError(32, "Broken pipe")


def stream(raw, encoding="utf-8"):
    return io.TextIOWrapper(io.BufferedWriter(raw, 1) if not isinstance(raw, io.BytesIO) else raw, encoding)


def test_an_encoding_that_lacks_characters_fails_no_run(tmp_path, monkeypatch):
    TABLE.assign(ward="łódź").to_csv(tmp_path / "t.csv", index=False)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, stream(io.BytesIO(), "cp1252"))
    hurried = ["--time-limit", "0.001"]
    assert dips(["fit", str(tmp_path / "t.csv"), "-t", "outcome", "-o", str(tmp_path / "run"), *hurried]) == 0
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize("raw", [Full, Gone])
def test_words_that_nobody_can_read_are_left_unsaid(monkeypatch, raw):
    monkeypatch.setattr(sys, "stdout", stream(raw()))
    output().print("words")
    output().print("more words")


@pytest.mark.parametrize("name", ["sample [/mm]", "[bold]", "\x1b[31mid"])
def test_names_of_columns_are_shown_as_they_are(name, capsys):
    output().print(make_table({name: "left"}, [[name]], title=name))
    assert capsys.readouterr().out.count(name.replace("\x1b", "�")) == 3


def test_data_is_complete_or_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream(io.BytesIO(), "cp1252"))
    with pytest.raises(OutputError, match="The output is in cp1252, which lacks 'ł'; write to a file with -o"):
        print_data("łódź")
    monkeypatch.setattr(sys, "stdout", stream(Full()))
    with pytest.raises(OutputError, match="The output cannot be written: No space left on device"):
        print_data("x" * 10_000)


def test_characters_that_would_hide_or_turn_text_are_replaced():
    assert printable("a\x1b[31m\u202eb\u2066").plain == "a�[31m�b�"


def test_json_is_escaped_where_the_output_is_not_in_unicode(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", stream(raw, "cp1252"))
    print_json({"ward": "łódź"})
    assert json.loads(raw.getvalue()) == {"ward": "łódź"}


def test_nothing_is_written_after_a_ctrl_c_that_a_library_swallowed(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupts, "_was_stopped", True)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.txt", b"made of half the rows")
    assert not any(tmp_path.iterdir())


def test_ctrl_c_ends_every_command_in_one_line(tmp_path, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dips._study.auditing.audit", stop)
    assert dips(["audit", "t.csv", "-t", "outcome"]) == 130
    assert capsys.readouterr().err == "dips: Stopped.\n"


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[12:00] std::bad_alloc")])
def test_too_little_memory_is_said_in_words_wherever_it_ran_out(monkeypatch, capsys, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("dips._study.auditing.audit", fail)
    assert dips(["audit", "t.csv", "-t", "outcome"]) == 3
    assert "There is not enough memory for this table" in capsys.readouterr().err


def test_a_long_training_is_heard_of_where_there_is_no_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with TerminalObserver() as observer:
        for now[0], n_done in enumerate((1, 2)):  # a second a step
            observer.on_step(n_done, 500)
        now[0] = 100.0
        observer.on_part("pilots")
        observer.on_step(101, 500)
        now[0], n_of_another_training = 200.0, 5
        observer.on_step(n_of_another_training, 500)
    with TerminalObserver(enabled=False) as observer:
        observer.on_step(3, 500)
    assert capsys.readouterr().err == (
        "      pilots: step 101 of 500, about 7 minutes left\n      pilots: step 5 of 500\n"
    )


def test_a_file_that_is_refused_at_once_is_answered_in_one_line(tmp_path, capsys):
    (tmp_path / "t.csv").touch()
    assert dips(["audit", str(tmp_path / "t.csv"), "-t", "outcome"]) == 3
    assert capsys.readouterr().err.startswith("dips: ")


def test_a_first_stage_that_lasts_is_named(monkeypatch, capsys):
    monkeypatch.setattr("dips._cli.console._FIRST_S", 0.0)
    with TerminalObserver() as observer:
        observer.message("reading", 0.0)
        observer._first.join()
        observer.message("judging", 0.2)
    assert capsys.readouterr().err == "  0 % reading\n 20 % judging\n"
