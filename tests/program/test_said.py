"""What a weights file must say of its model, or the user for it, and what neither may contradict;
the inputs that a file brings; every file of a model counts, and no output takes one's place."""

import csv
import io
import json
import shlex

import models
import numpy
import pytest
import safetensors_file

TRAINED = "cases/models/modadd53-silu.safetensors"
ACTIVATION = "activation (one of silu, relu, gelu, gelu_new)"
SCALE = "scale (1 or 1/sqrt(d_head))"
MASK = "mask (none or causal)"
NORM = "normalization (none)"
BLOCKS = "blocks (sequential, where networks read what attention wrote)"
EXPECTED = "expected in the file's metadata, or as"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Each kind that says what it is, and silent-KIND; a GPT-2, and TransformerLens' silent one."""
    folder = tmp_path_factory.mktemp("files")
    for kind in models.LAYERS:
        said = models.SAID if kind in ("attention", "transformer") else models.ALONE
        models.write(folder / f"{kind}.safetensors", models.made(kind), said)
        models.write(folder / f"silent-{kind}.safetensors", models.made(kind))
    models.write(folder / "no-x.safetensors", models.made("attention", 0), models.SAID)
    models.write(folder / "extra.safetensors", models.made("ffn") | {"exp_avg": numpy.zeros(4)},
                 models.ALONE)
    models.write(folder / "oblong.safetensors", models.filled(
        {"blocks.0.linear.W": (3, 4), "blocks.1.linear.W": (4, 3)}), models.ALONE)
    (folder / "a&b$(c).safetensors").symlink_to("attention.safetensors")
    (folder / "junk.safetensors").write_bytes(b"junk")
    models.write(folder / "lens.safetensors", models.lens(), models.SAID_BUT_NORMS)
    for key in ("whole", "layer_norm_epsilon", "activation_function", "none"):
        (folder / key).mkdir()
        models.write(folder / key / "gpt2.safetensors", models.gpt2())
        models.write_config(folder / key, *(() if key == "whole" else (key, None)))
    (folder / "none" / "config.json").unlink()
    return folder


def words_of(line, files):
    """The words of a command; KIND.safetensors, in a list too, is one of the files."""
    def place(name):
        own = name.endswith(".safetensors") and not name.startswith("cases/")
        return str(files / name) if own else name
    return [",".join(map(place, word.split(","))) for word in line.split()]


@pytest.fixture
def rows(run, files):
    """The rows of a sweep, without the columns that only name it."""
    def read(line):
        ended = run("sweep", *(words_of(line, files) if isinstance(line, str) else line))
        assert ended.code == 0, ended
        return [{name: cell for name, cell in row.items() if name not in ("weights", "options")}
                for row in csv.DictReader(io.StringIO(ended.stdout))]
    return read


@pytest.fixture
def points(run, files):
    """The commands of a sweep's points, as it prints them, as words behind `headproof sweep`."""
    def read(line):
        ended = run("sweep", *words_of(line, files), "--dry-run")
        assert ended.code == 0, ended
        return [shlex.split(command)[2:] for command in ended.stdout.splitlines()]
    return read


# ---- What is missing -----------------------------------------------------------------------------

SILENT = f": {ACTIVATION}, {SCALE}, {MASK}, {NORM}, {BLOCKS}: {EXPECTED} --activation, --scale, " \
    "--mask, --normalization, --blocks\n"
LACKING = [
    ("silent-transformer.safetensors --activation silu --scale 1 --mask none --normalization none",
     f": {BLOCKS}: {EXPECTED} --blocks\n"),
    ("silent-transformer.safetensors --activation silu --scale 1 --mask none",
     f": {NORM}, blocks (sequential, where"),
    ("silent-transformer.safetensors --activation silu --scale 1 --normalization none "
     "--blocks sequential", f": {MASK}: expected"),
    ("silent-transformer.safetensors --activation silu --mask causal --normalization none "
     "--blocks sequential", f": {SCALE}: expected"),
    ("silent-transformer.safetensors --scale 1 --mask causal --normalization none "
     "--blocks sequential", f": {ACTIVATION}: expected"),
    ("silent-attention.safetensors --activation silu --scale 1 --mask causal",
     f": {NORM}: expected"),
    ("silent-attention.safetensors", f": {SCALE}, {MASK}, {NORM}: expected"),
    ("silent-merged.safetensors --mask none --normalization none", f": {SCALE}: expected"),
    ("silent-ffn.safetensors", f": {ACTIVATION}, {NORM}: expected"),
    ("silent-linear.safetensors", f": {NORM}: expected"),
    ("layer_norm_epsilon/gpt2.safetensors --n 2",
     ": eps (what its norms add to the variance): expected in the file's metadata, or as --eps"),
    ("activation_function/gpt2.safetensors --n 2", ": activation ("),
    ("none/gpt2.safetensors --n 2 --heads 2",
     ": activation (...), scale (1 or 1/sqrt(d_head)), eps ("),
    ("lens.safetensors --n 2",
     ": normalization (layernorm or rmsnorm), normalization-place (pre or post), "
     "eps (what its norms add to the variance): expected in"),
]


@pytest.mark.parametrize("line, lacks", LACKING)
def test_what_is_missing(refused, files, line, lacks):
    refused(f"the metadata do not say{lacks}", "sweep", "--weights", *words_of(line, files))


@pytest.mark.parametrize("command", [
    "verify", "convert", "attribute", "guarantee", "sweep --weights", "depth --weights",
    "export --weights", "check --weights", "growth --weights",
    "min-omega --tolerance 1 --weights"])
def test_who_misses_it(refused, files, command):
    """Nothing is assumed of a file in any command that reads one."""
    refused(f"the metadata do not say{SILENT}", *command.split(),
            files / "silent-transformer.safetensors")


# ---- What is contradicted ------------------------------------------------------------------------

GPT2 = "--n 2 --weights whole/gpt2.safetensors"
LENS = "--n 2 --weights lens.safetensors --normalization-place pre --eps 1e-5 --normalization"
X = "--weights input.safetensors"
LARGE = f"--weights {TRAINED} --n 3"
REFUSED = [
    (f"{LARGE} --d 32", f"headproof: --d: token '32': the weights file {TRAINED} has d = 64\n"),
    (f"{LARGE} --d 64,32", "--d: token '32': the weights file"),
    (f"{LARGE} --d-ff 3D", f"--d-ff: token '192': the weights file {TRAINED} has d-ff = 256"),
    (f"{LARGE} --heads 2", "--heads: token '2'"),
    (f"{LARGE} --d-head 0", "has d-head = 16"),
    (f"{LARGE} --depth 2", "has depth = 1"),
    (f"{LARGE} --mask none", f"--mask: token 'none': the weights file {TRAINED} has mask = causal"),
    (f"{LARGE} --activation relu", "has activation = silu"),
    (f"{LARGE} --bias-row last", "--bias-row: token 'last': expected auto or first"),
    (f"{LARGE} --bias random",
     "--bias: token 'random': expected no --bias beside a weights file"),
    (f"{LARGE} --bias none", "--bias: token 'none': expected no --bias beside a weights file"),
    (f"{LARGE} --construction silu", "--construction: token 'silu': the weights file "
     f"{TRAINED} needs transformer3 or transformer"),
    ("--weights attention.safetensors --n 5", "--n: token '5': the weights file...has n = 4"),
    ("--weights attention.safetensors --construction attention,fused",
     "--construction: token 'fused': the weights file...needs attention"),
    ("--weights linear.safetensors --construction ffn3", "needs linear"),
    ("--weights linear.safetensors --linear clear", "--linear: token 'clear': expected in-"),
    ("--weights oblong.safetensors --n 2 --linear in-place", "has linear = block"),
    ("--weights silent-ffn.safetensors --activation gelu --normalization layernorm",
     "--normalization: token 'layernorm': expected none: the weights file has no tensors of norms"),
    ("--weights nowhere.safetensors", "nowhere.safetensors: "),
    ("--weights stable,none.safetensors", "none.safetensors: "),
    ("--weights cases/", "cases/: expected model.safetensors or "),
    ("--weights junk.safetensors", "junk.safetensors: "),
    ("--weights extra.safetensors", "extra.safetensors: unknown tensors: 'exp_avg'"),
    ("--weights file",
     "--weights: token 'file': expected one of stable, normal, or the path"),
    ("--weights a,b/c", "token 'a': expected one of"),
    ("--weights a/b,normal,a/b", "a/b is repeated"),
    ("--weights a'/b", "token 'a'/b': expected a path"),
    ('--weights a"/b', "without quotes"),
    (f"--weights {TRAINED} --scale 1",
     f"--scale: token '1': the weights file {TRAINED} has scale = 1/sqrt(d_head)"),
    (f"--weights {TRAINED} --n 3 --scale 1/sqrt(d_head),1", "--scale: token '1': the weights file"),
    (f"--weights {TRAINED} --normalization layernorm",
     f"token 'layernorm': the weights file {TRAINED} has normalization = none"),
    (f"--weights {TRAINED} --scale 0.125",
     "--scale: token '0.125': expected one of 1, 1/sqrt(d_head)"),
    ("--weights merged.safetensors --scale 1/sqrt(d_head)", "has scale = 1"),
    ("--weights silent-merged.safetensors --scale 1/sqrt(d_head) --mask none --normalization none",
     "expected 1 where Q is dense"),
    ("--scale 1/sqrt(d_head)", "expected 1 where Q is dense"),
    (GPT2 + " --heads 4", "--heads: token '4': the weights file"),
    (GPT2 + " --eps 1e-6", "--eps: token '1e-06': the weights file"),
    (GPT2 + " --mask none", "--mask: token 'none': the weights file"),
    (GPT2 + " --scale 1", "--scale: token '1': the weights file"),
    (GPT2 + " --normalization none", "--normalization: token 'none': the weights file"),
    (GPT2 + " --normalization rmsnorm", "has normalization = layernorm"),
    (GPT2 + " --normalization-place post", "has normalization-place = pre"),
    (GPT2 + " --construction fused", "needs transformer3 or transformer"),
    ("--n 2 --weights none/gpt2.safetensors",
     "how many heads there are is not said: expected n_head in a config.json"),
    ("--n 2 --weights none/gpt2.safetensors --heads 3",
     "expected [d, 3 heads d_head] with heads = 3 as in '--heads'"),
    (LENS + " none", "--normalization: token 'none': expected layernorm or rmsnorm: the weights "
     "file has tensors of norms"),
    (LENS + " rmsnorm", "expected layernorm: the weights file has a b of norms"),
    (X + " --activation relu", "has activation = silu"),
    (X + " --construction fused", "needs silu (it has an X alone)"),
]


@pytest.mark.parametrize("line, words", REFUSED)
def test_contradiction(refused, files, line, words):
    refused(words, "sweep", *words_of(line, files))


# A file that is silent and flags, another that says so, and how many points there are.
FLAGS = [
    ("silent-attention.safetensors --scale 1/sqrt(d_head) --mask causal --normalization none",
     "attention.safetensors"),
    ("silent-merged.safetensors --scale 1 --mask none --normalization none", "merged.safetensors"),
    ("silent-ffn.safetensors --activation silu --normalization none", "ffn.safetensors"),
    ("silent-linear.safetensors --normalization none", "linear.safetensors"),
]


@pytest.mark.parametrize("silent, said", FLAGS)
def test_flags_say(rows, points, silent, said):
    """The rows are those of a file that says it; and the command that is printed says it, too."""
    expected = rows(f"--omega 8 --weights {said}")
    assert rows(f"--omega 8 --weights {silent}") == expected
    assert rows(points(f"--omega 8 --weights {silent}")[0]) == expected


# Of files that say it, and what is drawn beside them.
REPRODUCED = [
    f"{LARGE} --omega 9 --construction transformer3",
    "--weights attention.safetensors --omega 8",
    "--weights no-x.safetensors --omega 8 --n 5 --seed 4 --reference subtract",
    "--weights extra.safetensors --omega 8 --activation silu --ignore-extra",
    "--weights oblong.safetensors --omega 8 --seed 3 --n 2",
    "--weights linear.safetensors --omega 8 --linear block --bias-row-content random --seed 9",
    "--weights a&b$(c).safetensors --omega 8",
]


@pytest.mark.parametrize("line", REPRODUCED)
def test_commands_reproduce(rows, points, line):
    """The command that is printed for a point gives its rows; a shell reads it so."""
    (words,) = points(line)
    assert rows(words) == rows(line)


# What a file decides, as the command of its point says it.
DECIDED = [
    (f"--weights {TRAINED} --n 20",
     "transformer --mask causal --n 20 --d 64 --heads 4 --d-head 16 "),
    ("--weights attention.safetensors", "attention --mask causal --n 4 --d 3 --d-head 2 --depth 2 "),
    ("--weights merged.safetensors", "attention --n 4 --d 3 --depth 2 "),
    ("--weights ffn.safetensors", "fused --n 4 --d 3 --d-ff 5 --depth 2 "),
    ("--weights linear.safetensors", "linear --n 4 --d 3 --depth 2 "),
    ("--weights oblong.safetensors --n 20", "linear --n 20 --d 3 --d-ff 4 --depth 2 "),
]


@pytest.mark.parametrize("line, words", DECIDED)
def test_what_a_file_decides(points, line, words):
    (point,) = points(line)
    said = " ".join(point)
    assert said.startswith(f"--construction {words}--omega 1000 --weights ")
    assert ("--linear block" in said) == ("oblong" in line)


@pytest.mark.parametrize("kind", ["attention", "merged", "ffn", "linear", "oblong", "transformer"])
def test_every_tensor_arrives(run, files, kind):
    """In doubles, which hold them."""
    out, path = files / "out.safetensors", files / f"{kind}.safetensors"
    ended = run("export", "--weights", path, "--n", "4", "-o", out)
    assert ended.code == 0, ended
    given, written = safetensors_file.read(path)[0], safetensors_file.read(out)[0]
    for name, (_, shape, data) in given.items():
        assert written[name][:2] == ("F64", shape)
        assert (numpy.frombuffer(written[name][2]) == numpy.frombuffer(data, "f4")).all(), name


@pytest.mark.parametrize("kind, scale", [("attention", "1/sqrt(d_head)"), ("merged", "1")])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_patched_heads_are_the_plain_ones(rows, kind, scale, mask):
    """To the bit, with biases of queries, keys, values and outputs, or without."""
    found = rows(f"--weights silent-{kind}.safetensors --normalization none --mask {mask} --scale "
                 f"{scale} --kernel structured --omega 30,1000")
    assert [row["identical"] for row in found] == ["1"] * 4


ALL = "--weights silent-transformer.safetensors --omega 8 --activation silu,relu " \
    "--scale 1,1/sqrt(d_head) --mask none,causal --normalization none --blocks sequential"
# A line, and how many points it has, no two of which are alike.
POINTS = [
    (ALL, 8),
    ("--d-head 3 --construction attention --n 3 --scale 1,1/sqrt(d_head) --normalization none", 2),
    (X + " --depth 1:3", 3),
    ("--omega 8 --construction attention --d 3 --n 4 --d-head 2 --heads 2 --depth 2 --mask causal "
     "--weights stable,attention.safetensors,normal,no-x.safetensors", 4),
    ("--weights silent-input.safetensors --activation silu,relu", 2),
]


@pytest.mark.parametrize("line, count", POINTS)
def test_points_are_their_own(rows, points, line, count):
    """What is said once or twice of a file is evaluated as it is said alone."""
    asked = points(line)
    alone = [rows(words) for words in asked]
    assert len(asked) == count and rows(line) == sum(alone, [])
    assert len({row["native_max"] for one in alone for row in one[-1:]}) == count


@pytest.mark.parametrize("flag", ["--weight-noise 1e-3", "--dropout 0.2"])
def test_seeds_beside_an_input(rows, flag):
    """Weights and X are the file's; what else is drawn is drawn by the seed."""
    found = rows(f"--weights transformer.safetensors --omega 8 --seed 1:2 {flag}")
    assert [(row["seed"], row["layer"]) for row in found] == [
        ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert found[0]["construction_max"] != found[2]["construction_max"]


# Lines that are no contradiction, and how many points they have.
AGREED = [
    (f"--weights {TRAINED} --n 3 --scale 1/sqrt(d_head) --normalization none", 1),
    ("--construction fused --scale 1,1/sqrt(d_head)", 1),
    (f"{LARGE} --d 64 --d-ff 4D,256 --heads 4 --d-head 16 --depth 1 --mask causal "
     "--activation silu", 1),
    (f"--weights {TRAINED} --seed 1:3 --n 2,3", 6),
    (f"{LARGE} --construction all", 2),
    ("--weights ffn.safetensors --construction ffn3,fused", 2),
    ("--weights stable,attention.safetensors --d 3 --n 4 --d-head 2 --mask causal --depth 2 "
     "--construction all", 9),
    ("--weights attention.safetensors --n 4 --d-ff 7 --activation gelu", 1),
    ("--weights linear.safetensors --linear in-place,block", 2),
    ("--weights oblong.safetensors --linear block --n 2,5", 2),
    # With an X nothing is drawn, unless the bias row's content is, or norms are.
    ("--weights attention.safetensors --seed 1:3", 1),
    ("--weights attention.safetensors --seed 1:3 --bias-row-content random", 3),
    ("--weights no-x.safetensors --n 5 --seed 1:3", 3),
    (X + " --construction silu --depth 3 --normalization layernorm --normalization-place post "
     "--reference none --seed 1,2", 2),
    ("--weights three.safetensors --n 4 --input 1:2", 2),
]


# ---- Inputs of a file ----------------------------------------------------------------------------

TOKENS = numpy.array([[4, 0, 1, 1], [2, 2, 2, 2], [0, 1, 3, 4]])


@pytest.fixture(scope="module")
def texts(files):
    """Files of one drawn pair of embeddings, with all the tokens, the last, and none."""
    tensors = models.made("attention", 0) | {
        "embed.W_E": .1 * numpy.arange(1, 16).reshape(5, 3),
        "pos_embed.W_pos": .7 - .3 * numpy.arange(18).reshape(6, 3)}
    for name, tokens in ("three", TOKENS), ("one", TOKENS[2:]):
        models.write(files / f"{name}.safetensors", tensors | {"tokens": tokens}, models.SAID)
    return tensors["embed.W_E"][TOKENS] + tensors["pos_embed.W_pos"][:4]


def test_tokens(run, rows, points, files, texts):
    """The file's tokens are what is evaluated: n and X come from them, a point each."""
    asked = points("--weights three.safetensors --omega 8,9")
    assert [words[words.index("--input") + 1] for words in asked] == ["1", "2", "3"] * 2
    assert all(words[words.index("--n") + 1] == "4" and "--seed" not in words for words in asked)
    for tuple_, x in enumerate(texts, 1):
        out = files / "out.safetensors"
        ended = run("export", "--weights", files / "three.safetensors", "--input", tuple_, "-o",
                    out)
        assert ended.code == 0, ended
        _, _, data = safetensors_file.read(out)[0]["X"]
        assert (numpy.frombuffer(data) == x.flatten()).all()
    third = rows("--weights three.safetensors --input 3 --omega 8")
    assert third == rows("--weights one.safetensors --omega 8")
    assert third == rows("--weights three.safetensors --omega 8")[-len(third):]


TOKENS_REFUSED = [
    ("--weights three.safetensors --input 4", "--input: token '4': expected all, or a tuple of "
     "tokens that"),
    ("--input 1", "--input: token '1': expected all, or"),
    ("--weights one.safetensors --n 5", "has n = 4"),
]


@pytest.mark.parametrize("line, words", TOKENS_REFUSED)
def test_tokens_refused(refused, files, texts, line, words):
    refused(words, "sweep", *words_of(line, files))


@pytest.mark.parametrize("line, count", AGREED)
def test_agreed(points, texts, line, count):
    assert len(points(line)) == count


def test_search_over_inputs(run, files, texts):
    """min-omega is about all inputs, unless some are chosen: verify agrees on either side of it."""
    path = files / "three.safetensors"

    def search(*flags):
        ended = run("min-omega", "--tolerance", "1e-6", "--weights", path, *flags)
        assert ended.code == 0, ended
        return list(csv.DictReader(io.StringIO(ended.stdout)))
    (whole,), each, (last,) = search(), search("--input", "1:2"), search("--input", "3")
    assert whole["options"] == "scale=1/sqrt(d_head);tolerance=1e-06"
    assert [row["options"] for row in (*each, last)] == [
        f"scale=1/sqrt(d_head);input={i};tolerance=1e-06" for i in (1, 2, 3)]
    largest = max(float(row["omega_min"]) for row in (*each, last))
    assert abs(float(whole["omega_min"]) / largest - 1) <= 1e-5
    for omega, code in (whole["omega_min"], 0), (whole["omega_below"], 1):
        ended = run("verify", path, "--tolerance", "1e-6", "--kernel", "dense", "--quiet",
                    "--omega", omega)
        assert ended.code == code, ended


# ---- Without inputs ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["sweep", "depth", "export", "check", "min-omega"])
def test_no_inputs(run, refused, command):
    """No rows are drawn for who did not ask for them."""
    line = [command, "--tolerance", "1", "--weights", TRAINED]
    refused(f"{TRAINED}: holds no X and no tokens to evaluate: expected one of them, or --n", *line)
    assert "--n 3 " in run(*line, "--n", "3", "--dry-run").stdout


# What convert is given, and how many rows there are: one more than tokens.
CONVERTED = [("no-x.safetensors --n 6", 7), ("three.safetensors", 5), (TRAINED, 4),
             (TRAINED + " --n 2", 3)]


@pytest.mark.parametrize("line, count", CONVERTED)
def test_rows_of_converted(run, files, texts, line, count):
    ended = run("convert", *words_of(line, files), "--omega", "9", "-o", files / "converted")
    assert ended.code == 0 and f" on a stream of {count} rows " in ended.stdout, ended


# A file of no model, and of an X alone.
NO_MODEL = [
    ("convert no-x.safetensors", "or --n for as many rows"),
    ("verify input.safetensors", "layer 'blocks.0': missing: verify expects a model"),
    ("convert input.safetensors", "convert expects a model"),
]


@pytest.mark.parametrize("line, words", NO_MODEL)
def test_no_model(refused, files, line, words):
    refused(words, *words_of(line, files))


def test_an_x_alone(rows, points, files):
    """Its rows name it, and the printed command repeats them; what else is in it may be skipped."""
    models.write(files / "more.safetensors", models.made("input") | {"exp_avg": numpy.zeros(4)},
                 models.ALONE)
    (words,) = points("--weights silent-input.safetensors --construction silu --depth 3")
    assert [words[words.index(flag) + 1] for flag in ("--construction", "--n", "--d", "--depth")] \
        == ["silu", "4", "3", "3"]
    assert rows(words) == rows("--weights silent-input.safetensors --construction silu --depth 3")
    assert len(points("--weights more.safetensors --ignore-extra")) == 1


# ---- Every file ----------------------------------------------------------------------------------


def test_every_file(run, refused, tmp_path):
    """Another byte in any file is another model, and an output that is one of them is refused."""
    tensors = {name: array for name, array in models.lens().items() if "ln" not in name}
    said = {**models.SAID_BUT_NORMS, "normalization": "none"}
    models.write_parts(tmp_path, tensors, (said, said))
    index, one, two = sorted(tmp_path.iterdir(), key=lambda path: path.suffix)

    def identity():
        ended = run("sweep", "--n", "2", "--omega", "9", "--weights", two, "-o", tmp_path / "t.csv")
        assert ended.code == 0, ended
        return json.loads((tmp_path / "t.csv.json").read_text())["grid"]["weights"]
    seen = {identity()}
    for path in (index, one, two):
        data = bytearray(path.read_bytes())
        data[-1:] = b" }" if path == index else bytes([data[-1] ^ 1])
        path.write_bytes(data)
        seen.add(identity())
        refused(f"expected another file than --weights '{path}'", "sweep", "--n", "2", "--omega",
                "9", "--weights", two, "-o", path)
    assert len(seen) == 4


def test_every_file_of_several_models(run, tmp_path):
    """A byte more in either is another identity of the grid; its points are the same."""
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    seen = []
    for path in (*paths, *paths):
        models.write(path, models.made("attention"), models.SAID | {"task": str(len(seen))})
        if paths[1].exists():
            ended = run("sweep", "--omega", "9", "--weights", ",".join(map(str, paths)), "-o",
                        tmp_path / "t.csv")
            assert ended.code == 0, ended
            seen.append(json.loads((tmp_path / "t.csv.json").read_text())["grid"])
    assert len({grid["weights"] for grid in seen}) == 3 == len(seen)
    assert len({grid["digest"] for grid in seen}) == 1


# ---- Answers that are streams ---------------------------------------------------------------------

@pytest.mark.parametrize("said", [{"positions": "none", "activation": "relu",
                                   "normalization": "none"}, {"positions": "none"}])
@pytest.mark.parametrize("answers", [slice(None), slice(-1, None)])
def test_a_witness_without_unembedding(run, tmp_path, said, answers):
    """Streams behind the last layer, of networks with relu: they agree, settle what is not said,
    and are refused where they are another model's."""
    draw, path = numpy.random.default_rng(1), tmp_path / "m.safetensors"
    (tmp_path / "config.json").write_text('{"colour": 3}')
    made = {name: draw.standard_normal(array.shape) for name, array in models.made("ffn", 0).items()}
    embedding, tokens = draw.standard_normal((5, 3)), numpy.array([[0, 3, 1], [4, 4, 2]])
    x = embedding[tokens]
    for name in ("blocks.0.mlp.", "blocks.1.mlp."):
        hidden = numpy.maximum(x @ made[name + "W_in"] + made[name + "b_in"], 0)
        x = x + hidden @ made[name + "W_out"] + made[name + "b_out"]
    for factor in (1, 1.01):
        resid = numpy.ascontiguousarray(factor * x[:, answers])
        models.write(path, {**made, "embed.W_E": embedding, "witness.tokens": tokens,
                            "witness.resid": resid}, said)
        ended = run("verify", path, "--tokens", "0/3/1", "--omega", "20")
        if factor == 1:
            words = " ".join(ended.stdout.split())
            assert ended.code == 0 and "its witness: streams off by " in words, ended
            assert "unknown keys 'colour' outweighed by the witness" in words, ended
        else:
            assert ended.code == 2 and "tensor 'witness.resid': " in ended.stderr, ended
