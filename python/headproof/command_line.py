"""What commands in Python have in common with the program: words, messages, files, exit codes."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import stat
import sys
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from .files import Path
from .program import HeadproofError

_MACHINE = (errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT,
            errno.EFBIG)


def shown(text: str) -> str:
    """Text of a user's as one line of a terminal: what is not seen, or moves what is, escaped."""
    def seen(letter: str) -> str:
        code = ord(letter)
        if letter.isprintable():
            return letter
        byte = code < 0x80 or 0xDC80 <= code <= 0xDCFF  # the latter are none of UTF-8
        return f"\\x{code & 0xFF:02X}" if byte else f"\\u{{{code:X}}}"
    return "".join(map(seen, text))


def shell_word(text: str) -> str:
    """A word as a shell takes it: in $'...' where not all of it is seen."""
    return shlex.quote(text) if shown(text) == text else \
        "$'" + shown(text.replace("\\", "\\\\").replace("'", "\\'")) + "'"


class Complaint(HeadproofError):
    """What a command refuses, in one line."""

    def __init__(self, why: str, token: Optional[str] = None, *, flag: str = "", file: Path = "",
                 line: int = 0, code: int = 2) -> None:
        begin = f"{os.fspath(file)}:{line}: " if line else f"headproof: --{flag}: " if flag else \
            f"{os.fspath(file)}: " if file else "headproof: "
        if token is not None:
            begin += f"token '{token[:400]}{'...' if len(token) > 400 else ''}': "
        super().__init__(shown(begin + why), code)


def flags_and_files(words: Sequence[str]) -> Tuple[Dict[str, str], List[str]]:
    """The flags by their names, and the files, of what the program says: --NAME or --NAME=VALUE,
    --, and files."""
    end = words.index("--")
    flags = {name: value for name, _, value in (word[2:].partition("=") for word in words[:end])}
    return flags, list(words[end + 1:])


def write_whole(path: str, data: bytes) -> None:
    """Writes a file that appears complete or not at all: PATH.partial first, which is no one
    else's.  A link stays one; what is no regular file is written directly."""
    target = os.path.realpath(path) if os.path.exists(path) else path
    partial = target + ".partial"
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as stream:
                stream.write(data)
            return
        if os.path.lexists(target) and not os.access(target, os.W_OK):  # nor leads a link nowhere
            reason = errno.EACCES if os.path.exists(target) else errno.ENOENT
            raise OSError(reason, os.strerror(reason))
        _claim(partial, data)
        try:
            with open(partial, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(partial, target)
        except OSError:
            if os.path.exists(partial):
                os.unlink(partial)
            raise
    except OSError as error:
        if error.errno in _MACHINE:
            raise Complaint(f"cannot be written: {error.strerror}", file=f"headproof: {path}",
                            code=99) from error
        raise Complaint(f"expected a file that can be written ({error.strerror})", path,
                        flag="output") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _claim(partial: str, data: bytes) -> None:
    """Removes what an interrupted run left, which begins as what is written now."""
    try:
        kind = os.lstat(partial).st_mode
    except FileNotFoundError:
        return
    begin = b""
    if stat.S_ISREG(kind):
        with open(partial, "rb") as file:
            begin = file.read(64)
    if not begin or begin != data[:len(begin)] or os.stat(partial).st_nlink > 1:
        raise Complaint("expected nothing there (this run has not written it): move it, or choose "
                        "another name for the output", partial, flag="output")
    os.unlink(partial)


def ended(run: Callable[[List[str]], int], words: List[str]) -> int:
    """Runs a command; its exit code, after a message where it refuses or the machine fails."""
    try:
        code = run(words)
        sys.stdout.flush()
        return code
    except HeadproofError as error:
        code, line = error.code, str(error)
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
        return 99
    except MemoryError:
        code, line = 99, "headproof: memory is short"
    except OSError as error:
        code, line = 99, f"headproof: stdout: cannot be written: {error.strerror}"
    with contextlib.suppress(OSError):  # stderr may be closed
        print(line, end="\n" if line else "", file=sys.stderr, flush=True)
    return code
