"""What a command printed."""


def said(capsys):
    captured = capsys.readouterr()
    return captured.out, captured.err
