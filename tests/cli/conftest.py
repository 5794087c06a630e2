"""Fixtures of the command tests."""

import pytest

from riverboat.cli import main


@pytest.fixture
def run(capsys):
    """A function that runs a command in this process and returns exit code, stdout and stderr."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return call
