"""A kill before every system call that changes a file loses nothing and leaves nothing: the next
run, with or without --resume, gives the bytes of one that nothing happened to, and nothing else
lies beside them."""

import itertools
import signal

import pytest

import models
import tables
from injected import NOTHING, Injected, empty, files_of

SWEEP = "sweep --construction silu,fused --n 3 --d 2 --omega 5 --threads 1 --quiet"
VERIFY = "verify ../m.safetensors --tokens 0:1/1:2/5 --omega 20,40 --positions 1,2 --threads 1 -q"
POINT = "--construction silu --n 2 --d 2"
TABLE = {"x.csv", "x.csv.json"}
SIGNALS = itertools.cycle([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])

# What is killed; what runs then; all that lies there at the end.
LINES = [
    (f"{SWEEP} -o x.csv", f"{SWEEP} -o x.csv", TABLE),
    (f"{SWEEP} -o x.csv", f"{SWEEP} -o x.csv --resume", TABLE),
    (f"{SWEEP} --resume -o x.csv", f"{SWEEP} -o x.csv", TABLE),
    (f"{VERIFY} -o x.csv", f"{VERIFY} -o x.csv", TABLE),
    (f"{VERIFY} -o x.csv", f"{VERIFY} -o x.csv --resume", TABLE),
    (f"{VERIFY} --shard 2/2 -o x.csv", f"{VERIFY} --shard 2/2 --resume -o x.csv", TABLE),
]
LINES += [(line, line, left) for line, left in (
    ("verify ../m.safetensors --tokens 0/1/5 --omega 40 --quiet -o x.csv", TABLE),
    ("cost -o x.csv", TABLE),
    (f"min-omega {POINT} --tolerance 1e-6 --quiet -o x.csv", TABLE),
    (f"export {POINT} --omega 9 -o x.safetensors", {"x.safetensors"}),
    (f"check {POINT} --omega 9 --tolerance 1 --junit-xml j --markdown m", {"j", "m"}),
    (f"check {POINT} --omega 9 --save-baseline x.csv --force", TABLE),
)]


@pytest.fixture(autouse=True)
def model(tmp_path):
    models.write(tmp_path / "m.safetensors", models.lens_of(8), models.NORMED)


def left_in(folder):
    """Of sidecars the name alone: they have the command line."""
    return {name: b"" if name.endswith(".json") else text
            for name, text in files_of(folder).items()}


def ends(program, number):
    """How runs end at each call, all but the last of them by the signal; (at, code)."""
    for at in itertools.count(1):
        code = program.run(f"end:{at}:{next(number)}")
        struck = program.has_struck()
        yield at, code
        if not struck:
            assert (code, at > 5) == (0, True)
            return


@pytest.mark.parametrize("line, again, left", LINES)
def test_a_kill_loses_nothing(tmp_path, line, again, left):
    with Injected(tmp_path, line) as killed, Injected(tmp_path, again) as then:
        assert killed.run(NOTHING) == 0
        whole = left_in(killed.out)
        assert set(whole) == left
        empty(killed.out)
        for at, code in ends(killed, itertools.repeat(signal.SIGKILL)):
            assert code in (0, -signal.SIGKILL)
            assert then.run(NOTHING) == 0, (at, then.said.read_text())
            assert left_in(killed.out) == whole, at
            empty(killed.out)


def test_the_old_file_stays(tmp_path):
    """What was there is there, or what is new, at any moment."""
    with (Injected(tmp_path, f"{SWEEP} -o x.csv") as new,
          Injected(tmp_path, f"{SWEEP} --seed 2 -o x.csv") as old):
        texts = []
        for program in (new, old):
            assert program.run(NOTHING) == 0
            texts.append((new.out / "x.csv").read_bytes())
        for at, _ in ends(new, itertools.repeat(signal.SIGKILL)):
            assert (new.out / "x.csv").read_bytes() in texts, at
            empty(new.out)
            assert old.run(NOTHING) == 0


def test_a_signal_leaves_what_another_run_goes_on_with(tmp_path):
    kept = 0
    with (Injected(tmp_path, f"{VERIFY} -o x.csv") as program,
          Injected(tmp_path, f"{VERIFY} -o x.csv --resume") as then):
        assert program.run(NOTHING) == 0
        whole = left_in(program.out)
        empty(program.out)
        for at, code in ends(program, SIGNALS):
            kept += tables.kept(program.said.read_text()) > 0
            if code != 0:
                assert then.run(NOTHING) == 0
            assert left_in(program.out) == whole, at
            empty(program.out)
    assert kept >= 3


def test_a_signal_leaves_all_or_nothing(tmp_path):
    with Injected(tmp_path, "cost -o x.csv") as program:
        codes = set()
        for at, code in ends(program, SIGNALS):
            left = set(left_in(program.out))
            assert left in (TABLE, set()), at
            assert left or code < 0
            codes.add(code)
            empty(program.out)
    assert min(codes) < 0
