"""The machine's faults, one at a time: every place that allocates or starts a thread, and every
system call on a file, fails once in every command.  Then the program says so and ends with 99 and
publishes nothing, or it has done without: same output, exit code 0.

HEADPROOF_NIGHTLY=1: all of them in every command, at first and at last; otherwise every place that
allocates once, in the first command that comes there, and some calls."""

import json
import resource
import shutil
import struct

import numpy
import pytest

import safetensors_file
import tables
from conftest import ROOT, own_end, start
from injected import NIGHTLY, Scenario

TINY = "--n 2 --d 2 --depth 2 --omega 10,20 --threads 2 --quiet"
MODEL, SMALL = "../in/model.safetensors", "../in/small.safetensors"
INPUT = "--tokens 0/1/53 --omega 22"
GRID = "[a]\nn = 2\nd = 2\ndepth = 2\nomega = 10, 20\n" \
    "[b]\nconstruction = silu, linear\nn = 2\nd = 2\nomega = 5\n"

# Run once, undisturbed, for what the others read.
PREPARATIONS = [
    f"sweep {TINY} --shard 1/2 -o one.csv",
    f"sweep {TINY} --shard 2/2 -o two.csv",
    f"check {TINY} --save-baseline base.csv",
    "export --n 2 --d 2 --omega 10 --quiet -o case.safetensors",
]

SCENARIOS = [
    "sweep ../in/grid.case -o r.csv --threads 2",
    f"sweep {TINY}",
    "depth --n 2 --d 2 --depth 3 --omega 20 --threads 2 -o r.csv",
    "min-omega --construction linear --n 2 --d 2 --tolerance 1e-3 --every-input --input-norm 2 "
    "--threads 2 -o r.csv --junit-xml r.xml",
    f"check {TINY} --baseline ../in/base.csv --json r.json --markdown r.md --junit-xml r.xml",
    f"check {TINY} --save-baseline r.csv",
    f"verify {SMALL} --tokens 0/0:1/2 --omega 22 --threads 2 --quiet -o r.csv",
    f"attribute {SMALL} --tokens 0/1/2 --omega 22 --threads 2 -o r.csv",
    f"convert {SMALL} --omega 22 -o r.safetensors",
    f"verify {MODEL} {INPUT} --threads 2 --quiet -o r.csv --json r.json",
    f"convert {MODEL} --omega 22 -o r.safetensors",
    f"attribute {MODEL} {INPUT} --threads 2 -o r.csv",
    "export --n 2 --d 2 --omega 10 -o r.safetensors",
    "cost --n 2 --d 2 -o r.csv",
    "guarantee --n 2 --d 2 --d-ff 2 --d-head 1 --input-norm 1 --tolerance 1e-9 -o r.csv",
    "guarantee ../in/normed.safetensors --n 2 --omega 9 -o r.csv",  # rows of a second norm
    "merge ../in/one.csv ../in/two.csv -o r.csv",
    "info",
    "help sweep",
    f"sweep {TINY} --resume -o r.csv",
]
SCENARIOS += NIGHTLY * [
    f"convert {MODEL} -o r.safetensors",
    "help",
    "sweep ../in/grid.case --dry-run",
    f"sweep {TINY} --resume -o ../in/all.csv",
    "sweep --construction all --n 3 --d 2 --depth 2 --omega 10 --bias random --quiet -o r.csv",
    "sweep --n 3 --d 3 --omega 10 --kernel dense,structured --mask causal --reference subtract "
    "-o r.csv",
    "sweep --weights ../in/case.safetensors --omega 10 -o r.csv",
    "check --n 2 --d 2 --depth 2 --omega 10,30 --quiet --baseline ../in/base.csv --json r.json "
    "--markdown r.md --junit-xml r.xml",
    "min-omega --construction linear --n 3 --d 3 --seed 1:3 --tolerance 1e-3 --threads 2 -o r.csv",
    f"verify {MODEL} {INPUT} --tolerance 1e-3 --threads 2 -o r.csv",
    f"attribute {MODEL} {INPUT} --by head --logits all --threads 2 -o r.csv",
    "convert ../in/case.safetensors --omega 10 -o r.safetensors",
    f"cost {MODEL} -o r.csv",
]

# Where layers come and go, every block of a file is a read that fails once.
LAYERS = [
    f"verify {SMALL} --tokens 0/1/2 --omega 22 --threads 2 --quiet -o r.csv",
    "sweep --n 2 --d 2 --depth 2 --omega 10 --quiet -o r.csv",
    f"convert {SMALL} --omega 22 --layout shared -o r.safetensors",
]


def write_models(folder):
    """As small as can be: faults are found in a quarter of the time.  One has norms."""
    r = numpy.random.default_rng(1)
    heads = {f"blocks.0.attn.W_{x}": (1, 2, 2) for x in "QKVO"}
    network = {"blocks.0.mlp.W_in": (2, 1), "blocks.0.mlp.W_out": (1, 2)}
    embeddings = {"embed.W_E": (3, 2), "pos_embed.W_pos": (3, 2), "unembed.W_U": (2, 3)}
    said = {"scale": "1", "mask": "none", "activation": "silu", "blocks": "sequential"}
    norms = {"blocks.0.ln1.w": (2,), "blocks.0.ln2.w": (2,)}
    for name, shapes, more in (
            ("small", {**embeddings, **heads, **network}, {"normalization": "none"}),
            ("normed", {"embed.W_E": (2, 2), **norms, **heads, **network},
             {"normalization": "rmsnorm", "eps": "1e-5", "normalization-place": "pre",
              "positions": "none"})):
        tensors = {tensor: r.normal(size=shape) for tensor, shape in shapes.items()}
        safetensors_file.write(folder / f"{name}.safetensors", tensors, {**said, **more})


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("injected")
    (folder / "in").mkdir()
    shutil.copy(ROOT / "cases/models/modadd53-silu.safetensors", folder / "in/model.safetensors")
    (folder / "in/grid.case").write_text(GRID)
    write_models(folder / "in")
    left = tables.journal(folder / "in", f"sweep {TINY} -o all.csv", 1)
    for line in (f"sweep {TINY} -o all.csv --resume", *PREPARATIONS):
        ended = start(*line.split(), cwd=folder / "in")
        assert ended.code == 0, ended
    return folder, left


@pytest.fixture(scope="module")
def scenario(prepared):
    """scenario(line, **environment): headproof LINE, measured."""
    folder, left = prepared
    return lambda line, **environment: Scenario(
        folder, line, left if "--resume -o r.csv" in line else None, **environment)


pytestmark = own_end
MET = set()  # places of any scenario so far


@pytest.mark.parametrize("line", SCENARIOS)
def test_every_fault_is_the_machine_s(scenario, line):
    with scenario(line) as faulty:
        assert faulty.failures(MET) == []


@pytest.mark.parametrize("line", LAYERS)
def test_layers_are_read_again(scenario, line):
    with scenario(line, HEADPROOF_HELD="1") as faulty:
        assert faulty.failures(MET) == []


@pytest.mark.parametrize("line, held", [
    (f"verify {MODEL} {INPUT} --quiet -o r.csv", "1"),
    (f"convert {MODEL} --omega 22 --layout shared -o r.safetensors", "1"),
    (f"convert {MODEL} --omega 22 --layout shared -o r.safetensors", ""),
    (f"sweep --weights {MODEL} --n 3 --omega 20 -o r.csv", "1")])
def test_every_block_is_needed(prepared, scenario, line, held):
    """A block of 16 KiB that cannot be read is no verdict and no file, of layers that come and go,
    and of a model that is read as a whole."""
    model = (prepared[0] / "in/model.safetensors").read_bytes()
    first = 8 + struct.unpack("<Q", model[:8])[0]
    spans = [tensor["data_offsets"] for name, tensor in json.loads(model[8:first]).items()
             if name != "__metadata__"]
    places = [0, 9, *(first + place for span in spans for place in range(*span, 1 << 14))]
    assert len(places) > 10
    with scenario(line, **({"HEADPROOF_HELD": held} if held else {})) as faulty:
        for place in places:
            assert "model.safetensors" in faulty.ends_by(f"at:{place}")


# What each once was taken for: exit code 1 by OpenMP, "terms do not sum", a signal.  2 is the
# ticker's thread.
@pytest.mark.parametrize("line, faults", [
    (SCENARIOS[0], ["pthread_create:1", "pthread_create:3"]),
    (SCENARIOS[9], ["pthread_create:1"]),
    (SCENARIOS[11], ["calloc:500", "calloc:100", "posix_memalign:500", "posix_memalign:100"])])
def test_known_faults_are_the_machine_s(scenario, line, faults):
    """posix_memalign is the larger products' alone: which those are, and whether there are any, is
    the processor's."""
    with scenario(line) as faulty:
        for fault in faults:
            if "memalign" not in fault or faulty.disturbed(fault) != 0 or faulty.has_struck():
                faulty.ends_by(fault)


@pytest.mark.parametrize("line", ["sweep --omega 20 --depth 8", "min-omega --tolerance 1e-6"])
def test_few_threads_are_made(scenario, line):
    """Threads within a single large point, or a search by itself, are made once and kept: a fault
    in one much later has nothing to strike."""
    with scenario(f"{line} --construction silu --n 24 --d 48 --threads 2 --quiet") as faulty:
        faulty.ends_by("pthread_create:1")
        assert (faulty.disturbed("pthread_create:8"), faulty.has_struck()) == (0, False)


def test_one_thread_is_one(scenario):
    """Also where what the evaluations share is made: the one that is started waits for signals."""
    tokens = "/".join(str(i % 60) for i in range(64))
    with scenario(f"verify {ROOT}/cases/models/llama --tokens {tokens} --omega 40 --tolerance 1 "
                  "--threads 1 --quiet -o r.csv") as faulty:
        faulty.ends_by("pthread_create:1")
        assert (faulty.disturbed("pthread_create:2"), faulty.has_struck()) == (0, False)


def test_limited_addresses_end_a_run(run, prepared):
    """From too little for OpenBLAS, which would try for ever, to enough."""
    codes, size = [], 100 << 20
    while size <= 1600 << 20:
        codes.append(run("verify", "model.safetensors", *INPUT.split(), "--quiet",
                         cwd=prepared[0] / "in", limits={resource.RLIMIT_AS: size}).code)
        size += size // 2
    assert codes == sorted(codes, reverse=True) and {*codes} == {0, 99}
