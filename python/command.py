"""`headproof NAME WORDS...` of a command that is in Python: python3 command.py NAME WORDS...

The program starts it (harness/commands/python.c), with its own path in $HEADPROOF.  Exit codes are
the program's: 77 where numpy or matplotlib is missing, after the one command that installs them.
"""

import importlib
import logging
import os
import shutil
import signal
import sys
from typing import List

DEBIAN = "/usr/bin/python3"


def _absent(name: str, error: ImportError) -> int:
    """Another Python has what is missing here, perhaps: Debian's, unless the user chose this."""
    if "HEADPROOF_PYTHON" not in os.environ and os.access(DEBIAN, os.X_OK):
        os.environ["HEADPROOF_PYTHON"] = DEBIAN  # so that it looks for no other
        sys.stdout.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    install = f"{sys.executable} -m pip install numpy matplotlib"
    if sys.executable == DEBIAN and shutil.which("apt-get"):
        install = "apt-get install python3-matplotlib"
    print(f"headproof: {name}: {error}: {install}", file=sys.stderr, flush=True)
    return 77


def main(words: List[str]) -> int:
    """Runs the command; its exit code."""
    name = words[0]
    # Python's own handler prints a traceback; the program blocks the signal until it is gone.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it says that it looks for fonts
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        run = importlib.import_module(f"headproof.command_{name}").run
    except ImportError as error:
        if (error.name or "").startswith("headproof"):
            raise
        return _absent(name, error)
    from headproof.command_line import ended
    return ended(run, words[1:])


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # what could not be written is not tried again
