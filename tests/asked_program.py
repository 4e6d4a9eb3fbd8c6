"""What the programs of this folder that run headproof share: where it is, and what they expect.

    HEADPROOF=build/release/headproof python3 PROGRAM SCRATCH
"""

import os
import subprocess
import sys

SCRATCH = sys.argv[1]
PROGRAM = os.environ["HEADPROOF"]


def check(holds, what):
    """Exit 1 with what is wrong where it does not hold."""
    if not holds:
        print(f"{os.path.basename(sys.argv[0])}: {what}")
        sys.exit(1)


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, encoding="utf-8", check=False)


def run_well(*words):
    done = run(*words)
    check(done.returncode == 0, f"{words}: {done.stderr}")
