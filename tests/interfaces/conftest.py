"""What tests of commands share."""

import pytest

from riverboat.cli import main


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit code, stdout, stderr."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return call
