"""`python -m riverboat`: the command line."""

from riverboat.cli.main import main

if __name__ == "__main__":
    main()
