"""The command line of subrosa: `subrosa`, or `python -m subrosa`."""

import signal
import sys

from . import _native


def main() -> None:
    """Runs the command line on the process's arguments, and ends the process with its exit code."""
    # Commands that run replications handle SIGINT themselves; any other command is ended by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.command(["subrosa", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
