"""Files of `headproof convert`: evaluated by tests/evaluate_converted.py, which follows
docs/convert.md and knows nothing of Headproof, either layout is T' as the reference finds it, and T
where heads lose nothing; so it is by the package in python/, and by the program of that page."""

import csv
import io
import itertools
import json
import re
import resource
import shutil
import sys
from fractions import Fraction

import evaluate_converted as independent
import models
import numpy
import pytest
import safetensors_file
import test_families
import transformer
from conftest import ROOT, says, start

sys.path.append(str(ROOT / "python"))
import headproof  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

MODADD = "cases/models/modadd53-silu.safetensors"
CHARGPT = "cases/models/chargpt"


@pytest.fixture
def well(run):
    """What a command says on standard output, which ends well."""
    def start(*words, **options):
        ended = run(*words, **options)
        assert ended.code == 0, ended
        return ended.stdout
    return start


# ---- One model in two layouts --------------------------------------------------------------------

NET = "--construction transformer --d-ff 5 --heads 2 --d-head 4 --bias random"
ATTENTION = "--construction attention --heads 3 --bias random"
LINEAR = "--construction linear --bias random"
GELU = NET + " --activation gelu"
CAUSAL = " --mask causal"

# Of export, which draws a model; of convert, and of export where it says what T' is; and whether T'
# is T to the digits of a double.
VARIANTS = [
    (NET, "", True),
    (NET + CAUSAL, "--penalty negative", True),
    (NET + CAUSAL, "--construction transformer3", True),
    (NET + " --scale 1/sqrt(d_head)",
     "--construction transformer3 --penalty negative --bias-row first", True),
    (NET + " --d-head 3 --scale 1/sqrt(d_head)", "", True),
    (NET + " --n 1", "", True),
    (GELU, "--gelu 1", False),
    (GELU, "--gelu 4 --bias-row last", False),
    (GELU + CAUSAL, "--gelu 3 --penalty negative --construction transformer3", False),
    (NET + " --activation gelu_new" + CAUSAL, "--gelu 1 --penalty negative", False),
    (NET + " --activation relu", "--slope 1000", False),
    (NET + " --activation relu", "--slope 1e13", True),
    (NET + " --construction fused", "", True),
    (NET + " --construction ffn3", "--construction ffn3", True),
    (ATTENTION + " --d-head 0", "--bias-row-content random --penalty negative", True),
    (ATTENTION + " --d-head 4 --mask causal", "--bias-row-content random", True),
    (NET, "--bias-row-content random", False),
    (NET + CAUSAL, "--dropout 0.3 --penalty positive", False),
    (NET, "--score-scale 3 --weight-noise 0.01", False),
    (LINEAR, "", False),
    (LINEAR, "--head-rank 2 --penalty negative", False),
    (LINEAR + " --linear block --d-ff 3", "--head-rank 2", False),
]

# Of two sublayers of a gated network, tau and pairs that keep T' as near T as doubles are; turns by
# position, and blocks whose parts read one stream.
GATED = "--construction transformer --ffn gated --d-ff 5 --heads 2 --d-head 4 --bias random"
TAU = "--readout 3 --tau 2^-9 --penalty negative"
TURNED = NET + " --rotary half"
PARALLEL = (" --parallel yes --normalization layernorm --normalization-place pre --eps 0.25")
VARIANTS += [
    (GATED + CAUSAL, TAU, True),
    (GATED, TAU + " --bias-row first", True),
    (GATED + " --n 1", TAU, True),
    (GATED + CAUSAL + " --rotary interleaved --rotary-dim 2 --normalization rmsnorm --eps 0.25",
     TAU + " --bias-self 4", True),
    (GATED + CAUSAL + " --activation none", TAU, True),
    (GATED + " --activation sigmoid --rotary half", "", True),
    (GATED + CAUSAL + " --activation gelu", TAU + " --gelu 2", False),
    (GATED + CAUSAL, "--readout 1 --tau 0.125 --penalty positive", False),
    (TURNED + CAUSAL, "", True),
    (TURNED + " --bias none --rope-theta 2.5", "--bias-row last --penalty negative", True),
    (TURNED + " --scale 1/sqrt(d_head) --d-head 6 --rotary-dim 4", "--bias-row first", True),
    (TURNED + " --n 9" + CAUSAL, "--construction transformer3 --rotary-tables float32", False),
    (ATTENTION + " --d-head 4 --rotary interleaved", "--bias-row-content random --omega 2", False),
    (NET + PARALLEL + CAUSAL + " --rotary half --rotary-dim 2", "--penalty negative", True),
    (NET + PARALLEL + " --activation gelu", "--gelu 2", False),
]

# Norms stay in the file: kinds, places, whether the bias row is normalised, and masks.
NORMED = [
    (NET + f" --construction {construction} --normalization {kind} --normalization-place {place} "
     f"--mask {mask} --eps 0.25",
     f"--normalize-bias-row {row} --penalty {penalty} --construction {construction}"
     + (" --bias-row-content random" if random else ""), not random)
    for construction, kind, place, mask, row, penalty, random in [
        ("transformer", "layernorm", "pre", "none", "yes", "positive", True),
        ("transformer", "layernorm", "pre", "causal", "no", "positive", False),
        ("transformer", "rmsnorm", "pre", "causal", "yes", "negative", False),
        ("transformer", "rmsnorm", "post", "none", "yes", "negative", True),
        ("transformer", "layernorm", "post", "causal", "no", "negative", True),
        ("transformer3", "layernorm", "pre", "none", "no", "negative", False),
        ("transformer3", "rmsnorm", "pre", "none", "no", "positive", True),
        ("transformer3", "layernorm", "post", "none", "yes", "positive", False),
        ("transformer3", "rmsnorm", "post", "causal", "yes", "positive", True),
        ("fused", "layernorm", "pre", "none", "yes", "negative", True),
        ("fused", "rmsnorm", "post", "none", "no", "positive", False),
        ("ffn3", "layernorm", "post", "none", "no", "negative", True),
        ("ffn3", "rmsnorm", "pre", "none", "yes", "positive", False),
        ("attention", "layernorm", "pre", "causal", "yes", "positive", True),
        ("attention", "rmsnorm", "post", "none", "no", "negative", True),
        ("linear", "layernorm", "post", "causal", "no", "positive", True)]
]


def words_of(line, *more):
    """The flags of a line; of a flag that is there twice the last."""
    words = line.split() + list(map(str, more))
    return [word for pair in dict(zip(words[::2], words[1::2])).items() for word in pair]


def same_model(plain, said, shared, shared_said):
    """What either file says of itself, but for how its heads are written."""
    own = {"headproof.layout", "headproof.heads", "headproof.evaluate", "scale",
           "headproof.augment", "headproof.exact", "headproof.inexact"}
    assert shared_said["headproof.exact"] == "true"
    assert (plain["X"][:, :shared["X"].shape[1]] == shared["X"]).all()
    assert f"blocks.{len(json.loads(shared_said['headproof.heads']))}.attn.W_Q" not in plain
    assert {k: v for k, v in said.items() if k not in own} == \
        {k: v for k, v in shared_said.items() if k not in own}


@pytest.fixture
def both(well, tmp_path):
    """A model that is drawn, and what convert makes of it: tensors and metadata of all three."""
    def make(drawn, flags, omega, unsay=()):
        model = tmp_path / "model.safetensors"
        well("export", *words_of("--n 3 --d 4 --depth 2 --omega 9 --kernel structured " + drawn),
             "-o", model)
        tensors, said = transformer.load(model)
        if unsay:
            said = {key: value for key, value in said.items() if key not in unsay}
            safetensors_file.write(model, tensors, said)
        for layout in "plain", "shared":
            well("convert", model, *words_of(f"--penalty positive --omega {omega} {flags}"),
                 "--layout", layout, "-o", tmp_path / layout)
        return (tensors, said), transformer.load(tmp_path / "plain"), \
            transformer.load(tmp_path / "shared")
    return make


@pytest.mark.parametrize("drawn, flags, alike", VARIANTS + NORMED)
def test_variant(well, both, tmp_path, drawn, flags, alike):
    """At an Omega whose leak is seen, where T' need not be T."""
    omega = "20.1" if alike else "2.1"
    (model, model_said), plain, shared = both(drawn, flags, omega)
    same_model(*plain, *shared)
    well("export", "--weights", tmp_path / "model.safetensors", "--kernel", "structured",
         *words_of(f"--penalty positive --omega {omega} {flags}"), "-o",
         tmp_path / "result.safetensors")
    _, said = safetensors_file.read(tmp_path / "result.safetensors")
    x, expected = model["X"], json.loads(said["result.1.r_Tprime.text"])
    expected = numpy.array(list(map(float, expected))).reshape(x.shape)
    for layout, (tensors, metadata) in ("plain", plain), ("shared", shared):
        rewritten = headproof.load_converted(tmp_path / layout)
        got = [independent.converted(tensors, metadata, x), rewritten(x)]
        if torch:
            module = headproof.load_converted(tmp_path / layout, torch=True)
            got.append(module(torch.tensor(x)).numpy())
        off = max(1e-12, 2**-48 / float(metadata.get("headproof.tau", "1")))
        for each in got:
            assert abs(each - expected).max() < off
        if alike:
            assert abs(got[0] - transformer.stream(model, model_said, x)).max() < off
        if len(x) > 1 and rewritten.causal:
            assert abs(rewritten(x[:2]) - expected[:2]).max() < off
        assert rewritten.shared == (layout == "shared")


# A pseudo-mask at a large Omega is a mask that T has.
PSEUDO = [
    (ATTENTION + " --d-head 2", "--mask pseudo-band --band 2",
     numpy.tri(3, dtype=bool) & ~numpy.tri(3, k=-2, dtype=bool)),  # itself and the one before
    (NET, "--mask pseudo-causal --penalty negative", numpy.tri(3, dtype=bool)),
]


@pytest.mark.parametrize("drawn, flags, seen", PSEUDO)
def test_pseudo_mask(both, drawn, flags, seen):
    (model, said), plain, shared = both(drawn, flags, "40", unsay=("mask",))
    same_model(*plain, *shared)
    expected = transformer.stream(model, said, model["X"], seen)
    for tensors, metadata in plain, shared:
        got = independent.converted(tensors, metadata, model["X"])
        assert abs(got - expected).max() < 1e-11


def texts(path, name, rows):
    """Numbers that an export's metadata have to 40 digits."""
    said = json.loads(safetensors_file.read(path)[1][name + ".text"])
    return numpy.array(list(map(Fraction, said))).reshape(rows, -1)


READ_BACK = itertools.product(("none", "causal"), ("transformer", "transformer3"),
                              ("positive", "negative"))


@pytest.mark.parametrize("mask, construction, penalty", READ_BACK)
def test_read_back(well, both, tmp_path, mask, construction, penalty):
    """Of a plain file headproof itself finds T to be what it found T' to be."""
    flags = f"--construction {construction} --penalty {penalty}"
    (model, _), (_, said), _ = both(f"{NET} --mask {mask}", flags, "20")
    out = tmp_path / "out.safetensors"
    well("export", "--weights", tmp_path / "model.safetensors", "--omega", "20", *flags.split(),
         "-o", out)
    expected = texts(out, "result.1.r_Tprime", 3)
    (tmp_path / "plain").rename(tmp_path / "plain.safetensors")
    well("export", "--weights", tmp_path / "plain.safetensors", "--omega", "9", "-o", out)
    last = int(said["headproof.layer_end"].split(",")[-1]) - 1
    rows = [i for i in range(4) if i != int(said["headproof.bias_row"])]
    assert abs(texts(out, f"result.{last}.r_T", 4)[rows, :4] - expected).max() < Fraction(2)**-100
    machine = safetensors_file.read(out)[0][f"result.{last}.m_T"]
    machine = numpy.frombuffer(machine[2]).reshape(machine[1])[rows, :4]
    assert abs(machine - expected.astype(float)).max() < 1e-13


@pytest.mark.parametrize("mask, penalty", itertools.product(("none", "causal"),
                                                            ("positive", "negative")))
def test_any_omega(both, mask, penalty):
    """Where what matters has no Omega in its scores nothing is lost to it: one of the usual kind is
    off by about ulp(2e6), 2.3e-10."""
    (model, said), (plain, plain_said), _ = both(f"{NET} --mask {mask}", f"--penalty {penalty}",
                                                 "1e6")
    off = abs(independent.converted(plain, plain_said, model["X"]) -
              transformer.stream(model, said, model["X"])).max()
    assert off < 4e-15 if penalty == "negative" else off > 1e-12


# ---- What a file says ----------------------------------------------------------------------------

SMALL = "--construction transformer --n 4 --d 3 --d-ff 5 --heads 2 --d-head 2 --bias random"
SAID = [
    (SMALL + CAUSAL, "--construction transformer3", {
        "scale": "1", "activation": "none", "normalization": "none", "mask": "causal",
        "headproof.form": "transformer3", "headproof.omega": "20.1", "headproof.rows": "5",
        "headproof.bias_row": "0", "headproof.content": "0:3", "headproof.layer_end": "4,8",
        "headproof.exact": "true", "headproof.inexact": None, "headproof.augment":
        "Rows 1:5 are the tokens in order, row 0 is the bias row. Columns 0:3 of a token's row are "
        "its own; columns 3:8 of all rows, and columns 0:8 of the bias row, stay as in X. Column 8 "
        "+ i of row i is 1, all others from column 8 on are 0."}),
    (SMALL + " --d-head 3 --scale 1/sqrt(d_head)", "",
     {"headproof.exact": "false", "headproof.inexact":
      "a scale of the scores is not a double and is rounded"}),
    (SMALL + " --normalization layernorm --eps 0.125",
     "--construction transformer3 --normalize-bias-row no",
     {"normalization": "layernorm", "normalization-place": "pre", "eps": "0.125",
      "headproof.norm_columns": "0:3,0:3,-,-,0:3,0:3,-,-", "headproof.norm_rows": "0:4"}),
    (SMALL + " --construction ffn3 --normalization rmsnorm --normalization-place post",
     "--construction ffn3",
     {"normalization": "rmsnorm", "normalization-place": "post", "headproof.layer_end": "3,6",
      "headproof.norm_columns": "-,-,0:3,-,-,0:3", "headproof.norm_rows": "0:5"}),
]


@pytest.mark.parametrize("drawn, flags, expected", SAID)
def test_said(both, drawn, flags, expected):
    _, (tensors, said), _ = both(drawn, flags, "20.1")
    assert {key: said.get(key) for key in expected} == expected
    normed = [columns != "-" for columns in said.get("headproof.norm_columns", "-").split(",")]
    for s, own in enumerate(normed):
        assert (f"blocks.{s}.ln.w" in tensors) == own
        assert (f"blocks.{s}.ln.b" in tensors) == (own and said["normalization"] == "layernorm")


@pytest.fixture
def bare(tmp_path):
    """A model with embeddings of seven tokens and an unembedding, and without norms."""
    path = tmp_path / "bare.safetensors"
    models.write(path, {name: array for name, array in models.lens_of(7).items()
                        if ".ln" not in name and "ln_final" not in name}, models.SAID)
    return path


@pytest.mark.parametrize("n", [3, 2])
def test_ends(well, bare, tmp_path, n):
    """Embeddings and unembedding, over all columns and over the model's own."""
    of, _ = transformer.load(bare)
    for layout in "plain", "shared":
        well("convert", bare, "--omega", "20", "--layout", layout, "--n", n,
             "--bias-row-content", "random", "-o", tmp_path / layout)
    plain, said = transformer.load(tmp_path / "plain")
    shared, _ = transformer.load(tmp_path / "shared")
    assert (said["headproof.bias_row"], said["headproof.bias_token"]) == ("0", "7")
    ends = {"embed.W_E": of["embed.W_E"], "pos_embed.W_pos": of["pos_embed.W_pos"][:n],
            "unembed.W_U": of["unembed.W_U"]}
    assert all((shared[name] == values).all() for name, values in ends.items())
    bias = plain["X"][0, :4]
    assert bias.any()
    assert (plain["embed.W_E"] == numpy.pad([*of["embed.W_E"], bias], ((0, 0), (0, n + 1)))).all()
    positions = numpy.pad(ends["pos_embed.W_pos"], ((1, 0), (0, 0)))
    assert (plain["pos_embed.W_pos"] == numpy.hstack((positions, numpy.eye(n + 1)))).all()
    assert (plain["unembed.W_U"] == numpy.pad(of["unembed.W_U"], ((0, n + 1), (0, 0)))).all()


def test_ends_of_a_gpt2(well, tmp_path):
    """Of chargpt, whose W_U is its W_E, with its final norm."""
    well("convert", CHARGPT, "--omega", "20", "--n", "5", "--layout", "shared", "-o",
         tmp_path / "shared")
    shared, _ = transformer.load(tmp_path / "shared")
    of, _ = transformer.load(CHARGPT + "/model.safetensors")
    expected = {"embed.W_E": of["transformer.wte.weight"],
                "unembed.W_U": of["transformer.wte.weight"].T,
                "pos_embed.W_pos": of["transformer.wpe.weight"][:5],
                "ln_final.w": of["transformer.ln_f.weight"],
                "ln_final.b": of["transformer.ln_f.bias"],
                "blocks.2.ln.w": of["transformer.h.1.ln_1.weight"]}
    assert all((shared[name] == values).all() for name, values in expected.items())


# What is trained, another program's answers in floats, how many heads a GELU has, and how far the
# heads are off; those of ../shared where it is there.
TRAINED = [("cases/models/llama", "model.safetensors", "witness.logits", 1, 3e-5),
           ("../shared/models/gemma", "expected.safetensors", "logits_float32", 8, 1e-2),
           ("../shared/models/neox", "expected.safetensors", "logits_float32", 8, 1e-2)]


@pytest.mark.parametrize("folder, answers, name, gelu, most", TRAINED)
def test_trained_models_answer_as_they_do(well, tmp_path, folder, answers, name, gelu, most):
    """Gated networks, turned heads and parallel blocks."""
    if not (ROOT / folder).exists():
        pytest.skip("no ../shared")
    tokens = name.replace("logits", "tokens") if "." in name else "tokens"
    of, _ = transformer.load(ROOT / folder / answers)
    ids, expected = of[tokens][0, :8].astype(int), of[name][0, :8]
    well("convert", ROOT / folder, "--omega", "20", "--gelu", gelu, "--layout", "shared", "--n", 8,
         "-o", tmp_path / "t")
    t, said = transformer.load(tmp_path / "t")
    logits = transformer.unembedded(
        t, said, independent.converted(t, said, t["embed.W_E"][ids]))
    assert abs(logits - expected).max() < most
    assert (logits.argmax(-1) == expected.argmax(-1)).all()


@pytest.fixture
def layouts(well, tmp_path):
    """The paths of what convert makes of a model, in either layout."""
    def convert(model, *flags):
        for layout in "plain", "shared":
            well("convert", model, "--layout", layout, *flags, "-q", "-o", tmp_path / layout)
        return tmp_path / "plain", tmp_path / "shared"
    return convert


def page():
    """The functions that docs/convert.md prints."""
    text, names = (ROOT / "docs/convert.md").read_text(), {}
    exec(re.search(r"^```python\n(import json.*?)^```", text, re.M | re.S)[1], names)
    return names


# A model, or a family of test_families; flags; and whether the rewrite has the model's own logits.
LOGITS = [
    (MODADD, "--penalty positive", True), (MODADD, "--penalty negative", True),
    ("unmasked", "--bias-row last", True), ("unmasked", "--bias-row first", True),
    ("llama", "--n 8", False), ("gptj", "--n 8 --gelu 8", False),
    (CHARGPT, "--n 8 --gelu 1", False)]


@pytest.mark.parametrize("model, flags, alike", LOGITS)
def test_logits(layouts, tmp_path, model, flags, alike):
    """From token ids, by all that evaluates a file."""
    ids = [3, 4, 53] if alike else [3, 0, 4, 1, 2, 2, 0, 1]
    if model == "unmasked":  # the same numbers as another model
        tensors, said = safetensors_file.read(ROOT / MODADD)
        model, kinds = tmp_path / "unmasked", {"F32": "f4", "F64": "f8"}
        models.write(model, {name: numpy.frombuffer(data, kinds[kind]).reshape(shape)
                             for name, (kind, shape, data) in tensors.items()
                             if "witness" not in name}, {**said, "mask": "none"})
    elif not alike and model != CHARGPT:
        (tmp_path / model).mkdir()
        test_families.write(tmp_path / model, model)
        model = tmp_path / model
    plain, shared = layouts(model, "--omega", "20", *flags.split())
    t, said = transformer.load(shared)
    expected = transformer.unembedded(
        t, said, independent.converted(t, said, transformer.embedded(t, ids)))
    if alike:
        assert abs(expected - transformer.logits(*transformer.load(model), ids)).max() < 2e-13
    by = {path.name: headproof.load_converted(path).logits(ids) for path in (plain, shared)}
    if torch:
        own = page()
        by["the page"] = own["logits"](*own["load"](plain), ids).numpy()
        by |= {f"torch, {path.name}": headproof.load_converted(path, torch=True)(
            torch.tensor(ids)).numpy() for path in (plain, shared)}
    if said["mask"] == "causal":
        assert abs(headproof.load_converted(shared).logits(ids[:2]) - expected[:2]).max() < 1e-11
    assert {who: got.shape == expected.shape and abs(got - expected).max() < 1e-11
            for who, got in by.items()} == dict.fromkeys(by, True)


def test_verify_foretells_a_file(well, layouts):
    """Where heads imitate GELU its logits are as far off as verify says."""
    of, _ = transformer.load(ROOT / CHARGPT / "expected.safetensors")
    ids, expected = of["tokens"][0, :16].astype(int), of["logits"][0, :16]
    flags = ("--omega", "20", "--gelu", "1")
    rows = csv.DictReader(io.StringIO(well(
        "verify", CHARGPT, "--tokens", "/".join(map(str, ids)), "--positions", "all", *flags,
        "--format", "csv", "-q")))
    off = max(float(row["logit_error"]) for row in rows if row["position"])
    _, shared = layouts(CHARGPT, *flags, "--n", 16)
    assert off > .1
    assert abs(headproof.load_converted(shared).logits(ids) - expected).max() == pytest.approx(off)


def test_a_plain_file_is_a_model(well, bare, tmp_path):
    """Headproof reads one without norms, and with what is proven of it, as a model with one more
    token: the same logits have the same smallest margin."""
    path = tmp_path / "t.safetensors"
    well("convert", bare, "-q", "-o", path)
    logits = numpy.sort(transformer.logits(*transformer.load(bare), [2, 6, 3])[-1])
    margin = f"smallest margin {logits[-1] - logits[-2]:.3g},"
    for model, tokens in (path, "7/2/6/3"), (bare, "2/6/3"):
        assert margin in well("verify", model, "--tokens", tokens, "--omega", "20")


# ---- Its size, and what has no room --------------------------------------------------------------

CONTEXTS = [
    ("--n 1 --layout shared",
     ": 4 sublayers of 4 heads, 257, ... on a stream of 2 rows and 64 columns"),
    ("--n 1", ": 4 sublayers of 257 heads of rank 18 on a stream of 2 rows and 66 columns"),
    ("--layout shared", "on a stream of 65 rows and 64 columns"),
]


@pytest.mark.parametrize("flags, words", CONTEXTS)
def test_context(well, tmp_path, flags, words):
    """It is what was asked, or the model's."""
    assert words in well("convert", CHARGPT, "--omega", "20", *flags.split(), "-o", tmp_path / "t")


def test_room_that_is_enough(well, tmp_path):
    well("convert", MODADD, "--omega", "20", "--layout", "shared", "--memory", "7MiB", "-o",
         tmp_path / "t")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Models without an embedding, to be named WIDE, MANY, NETWORK, LARGE; one with it, TOKENS; and
    one that is no model, X."""
    folder = tmp_path_factory.mktemp("drawn")
    for name, line in {
            "WIDE": "--construction attention --n 2 --d 4 --d-head 2",
            "NETWORK": "--construction fused --n 4 --d 3 --d-ff 5",
            "X": "--construction silu --n 3 --d 4"}.items():
        ended = start("export", *line.split(), "--omega", "20", "--quiet", "-o",
                      folder / f"{name}.safetensors")
        assert ended.code == 0, ended
    for name, rows, d, heads, width, network in (
            ("MANY", 2, 1000, 460, 1, {}),
            ("LARGE", 40, 8, 2, 4, {"mlp.W_in": (8, 8000), "mlp.W_out": (8000, 8)})):
        shapes = {**{f"attn.W_{x}": (heads, d, width) for x in "QKV"},
                  "attn.W_O": (heads, width, d), **network}
        models.write(folder / f"{name}.safetensors", models.filled(
            {"X": (rows, d)} | {f"blocks.0.{x}": shape for x, shape in shapes.items()}),
            models.ALONE)
    models.write(folder / "TOKENS.safetensors", models.lens_of(5), models.NORMED)
    return folder


def line_of(line, folder):
    return [folder / f"{word}.safetensors" if word.isupper() else word for word in line.split()]


ASKED = "headproof: convert: expected --omega; one that is proven for every input "
REFUSED = [
    ("TOKENS --tolerance 1 --omega 20",
     "--tolerance: expected it without --omega, which it is to find"),
    ("TOKENS --input-norm 1 --omega 20", "--input-norm: expected it without --omega"),
    ("TOKENS --tolerance nan", "--tolerance: token 'nan': expected none or a number above 0"),
    ("TOKENS --tolerance none", "--tolerance: token 'none': expected one to meet, or --omega"),
    ("TOKENS --tolerance 0", "--tolerance: token '0': expected none or a number above 0"),
    ("TOKENS --tolerance 1,2", "--tolerance: token '1,2': expected one value"),
    ("TOKENS --judge logits", "expected no judge, which convert does not take"),
    ("TOKENS --omega 5,6", "token 'convert': expected one omega and one form"),
    ("TOKENS --network four", "--network: token 'four': expected one of fused, three"),
    ("TOKENS --network three --construction transformer",
     "expected --network or --construction"),
    ("TOKENS --omega 20 --layout both", "--layout: token 'both': expected one of plain, shared"),
    (f"{CHARGPT} --omega 20 --n 65 --layout shared",
     "64 positions: expected one for each of the 65 tokens of --n or of X"),
    ("TOKENS --omega 20 --n 4", "'pos_embed.W_pos': 3 "),
    (f"{MODADD} --omega 20 --layout shared --memory 100KiB", "9.54e-05 GiB may be used"),
    (f"{MODADD} --omega 20 --n 3 --memory 7MiB",
     "0.00684 GiB may be used (--layout shared takes less)"),
    (f"{MODADD} --omega 20 --memory 1MiB", " GiB of memory; 0.000977 GiB may be used"),
    ("NETWORK --omega 20 --construction masked --layout shared", "masked"),
    ("X --omega 20 --layout shared", "convert expects a model"),
    # Without --omega, where none is proven.
    ("TOKENS --dropout 0.1 --penalty positive", ASKED + "needs no lost entries of Omega: "),
    ("TOKENS --weight-noise 0.1", ASKED + "needs no --weight-noise: "),
    ("TOKENS --bias-row-content random", ASKED + "needs a bias row that is empty at first: "),
    ("TOKENS --input-norm 2", "--input-norm: expected none with an embedding: "),
    ("WIDE", ASKED + "needs --input-norm R, as there is no embedding: "),
    ("WIDE --input-norm 0.001", "--input-norm: token '0.001': expected at least "),
    ("MANY --input-norm 40", ASKED + "takes about 1.1e+13 multiplications, and "),
    ("WIDE --input-norm 1e300",
     ASKED + "to keep it within 1e-09 is not there, up to the largest double"),
]


@pytest.mark.parametrize("line, words", REFUSED)
def test_refused(refused, drawn, tmp_path, line, words):
    refused(words, "convert", *line_of(line, drawn), "-o", tmp_path / "none")
    assert not any(tmp_path.iterdir())


# Where the file would be, and its own model's files.
PLACES = [
    ("own.safetensors", None, "expected --output FILE"),
    ("own.safetensors", "x.pt", "what is written are safetensors, which no torch.load reads"),
    ("own.safetensors", "/no/such/x.safetensors",
     "expected a file that can be written (No such file or"),
    ("own.safetensors", "own.safetensors", "expected another file than the operand '"),
    ("folder", "folder/config.json", "expected another file than --weights '"),
]


@pytest.mark.parametrize("model, output, words", PLACES)
def test_place(refused, tmp_path, model, output, words):
    models.write(tmp_path / "own.safetensors", models.lens_of(5), models.NORMED)
    shutil.copytree(CHARGPT, tmp_path / "folder")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    refused(words, "convert", tmp_path / model, "--omega", "20", "--layout", "shared",
            *(("-o", tmp_path / output) if output else ()))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


LIMITS = [
    (f"{MODADD} --layout shared", resource.RLIMIT_FSIZE, 100 * 512, 99,
     "none: the converted model takes 0.000423 GiB; "),
    ("LARGE", resource.RLIMIT_FSIZE, 1000 * 512, 99, "the converted model takes 0...GiB of disk "
     "may be used (--layout shared takes less)\n"),
    ("LARGE", resource.RLIMIT_AS, 400000 * 1024, 2, "a conversion takes 0... 0.305 GiB may be used "
     "(--layout shared takes less)\n"),
]


@pytest.mark.parametrize("line, what, most, code, words", LIMITS)
def test_limits(run, drawn, tmp_path, line, what, most, code, words):
    """What neither the disk nor memory holds is refused with its size, before it is begun."""
    if what == resource.RLIMIT_AS and "-fsanitize" in run("info").stdout:
        pytest.skip("sanitizers map more than any machine has")
    ended = run("convert", *line_of(line, drawn), "--omega", "20", "-o", tmp_path / "none",
                limits={what: most})
    assert ended.code == code and ended.stderr.count("\n") == 1, ended
    assert says(ended.stderr, words), ended.stderr
    assert not any(tmp_path.iterdir())


# ---- Without --omega -----------------------------------------------------------------------------

# What is converted, what is said of it, and what its metadata have of its Omega and its guarantee.
PROVEN = [
    (MODADD, "headproof: Omega = 16.2217, penalty negative: for every input of up to 3 tokens, no "
     "logit is off, in exact arithmetic, by more than 1e-09 from what an infinite Omega would "
     "give\n",
     {"omega": "16.2217", "guarantee_tolerance": "1e-09", "guarantee_tokens": "3"}),
    (f"{MODADD} --penalty positive --layout shared --tolerance 1e-300",
     "headproof: Omega = 351.248, penalty positive: ",
     {"omega": "351.248", "guarantee_tolerance": "1e-300"}),
    (f"{MODADD} --shrink 0.5",
     "headproof: Omega = 16.22165 (--omega 32.4433 before --shrink), penalty negative: ",
     {"omega": "16.22165", "guarantee_tokens": "3"}),
    ("NETWORK --input-norm 2.5", "for every input of up to 4 tokens, rows of X no longer than 2.5, "
     "no entry of the stream is off", {"guarantee_input_norm": "2.5"}),
]


@pytest.mark.parametrize("line, words, expected", PROVEN)
def test_proven(run, drawn, tmp_path, line, words, expected):
    ended = run("convert", *line_of(line, drawn), "-o", tmp_path / "t")
    assert ended.code == 0 and words in ended.stdout + ended.stderr, ended
    said = safetensors_file.read(tmp_path / "t")[1]
    assert {key: said.get("headproof." + key) for key in expected} == expected


def test_proven_changes_no_tensor(well, bare, tmp_path):
    """The file is that of the same --omega, whose metadata say no more."""
    path = tmp_path / "a.safetensors"
    well("convert", bare, "-q", "-o", path)
    a, said = safetensors_file.read(path)
    well("convert", bare, "-q", "--omega", said["headproof.omega"], "--penalty", "negative", "-o",
         tmp_path / "b")
    b, other = safetensors_file.read(tmp_path / "b")
    assert a == b
    assert {key: said[key] for key in said if "guarantee" not in key} == other
    assert any("guarantee" in key for key in said)
