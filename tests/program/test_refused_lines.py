"""Lines that are refused: exit code 2, and a message that names the flag, the token and what was
expected."""

import re
import shlex

import pytest
from conftest import says

MODADD = "cases/models/modadd53-silu.safetensors"
TEXTS = "tests/data/texts.safetensors"

LINES = [
    # attribute.
    ("attribute", "token 'attribute': expected one MODEL.safetensors, and no --weights"),
    (f"attribute {MODADD} --by unit", "--by: token 'unit': expected one of head, sublayer, kind"),
    (f"attribute {MODADD} --logits 3", "--logits: token '3': expected one of all, predicted"),
    (f"attribute {MODADD} --tokens 0/0/0/0",
     "--tokens: token '0/0/0/0': expected at most 3 positions"),
    (f"attribute {MODADD} --tokens 99/0/0",
     "--tokens: token '99': expected an integer from 0 to 53"),
    (f"attribute {MODADD} --omega 10,20", "token 'attribute': expected one omega and one form"),
    (f"attribute {MODADD} --arithmetic f64",
     "--arithmetic: token 'arithmetic': expected no arithmetic, which attribute does not take"),
    ("attribute /no/such.safetensors",
     "/no/such.safetensors: expected a file that can be read (No such file or directory)"),
    (f"verify {MODADD} --by head",
     "--by: token 'head': expected a flag of verify, which has no --by"),
    (f"attribute {MODADD} --tokens 1/2/53 --memory 1KiB",
     "a point needs ... GiB, 9.54e-07 GiB may be used:"),
    # --certify.
    ("sweep --construction silu --n 3 --d 2 --omega 20 --certify=yes",
     "token '--certify=yes': expected no value"),
    ("sweep --construction silu --n 3 --d 2 --omega 20 --certify --certify",
     "--certify: token 'certify': expected the flag once"),
    ("export --construction silu --n 3 --d 2 --omega 20 --certify -o a.safetensors",
     "--certify: token 'certify': expected a flag of export, which has no --certify"),
    # --digits.
    ("sweep --digits 0", "--digits: token '0': expected an integer from 1 to 17"),
    ("sweep --digits 18", "--digits: token '18': expected an integer from 1 to 17"),
    ("sweep --digits 12,13", "--digits: token '12,13': expected one value"),
    ("sweep --digits many", "--digits: token 'many': expected a finite decimal number"),
    ("sweep --digits -1", "--digits: token '-1': expected an integer from 1 to 17"),
    ("sweep --digits 12 --digits 12", "--digits: token '12': expected the flag once"),
    ("min-omega --digits 6",
     "--digits: token '6': expected a flag of min-omega, which has no --digits"),
    ("export --digits 6", "--digits: token '6': expected a flag of export, which has no --digits"),
    # --gelu.
    ("sweep --construction silu --activation gelu_new --gelu two",
     "--gelu: token 'two': expected sigmoid, minimax or an integer: two is fitted to gelu alone"),
    ("sweep --construction silu --activation gelu --gelu 9",
     "--gelu: token '9': expected sigmoid, minimax, two or an integer from 1 to 8"),
    ("sweep --construction silu --activation gelu --gelu 0",
     "--gelu: token '0': expected sigmoid, minimax, two or an integer from 1 to 8"),
    ("sweep --construction silu --activation gelu --gelu three",
     "--gelu: token 'three': expected sigmoid, minimax, two or an integer from 1 to 8"),
    # guarantee.
    ("guarantee --tolerance 1e-9",
     "guarantee: expected --input-norm R, as there is no embedding: how long a row of X may be:"),
    ("guarantee --input-norm 1",
     "--tolerance: expected a tolerance to meet, or --omega with Omegas to look at"),
    ("guarantee --input-norm 0 --tolerance 1e-9",
     "--input-norm: token '0': expected a number above 0"),
    ("guarantee --input-norm nan --tolerance 1e-9",
     "--input-norm: token 'nan': expected a finite decimal number"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --arithmetic f31",
     "--arithmetic: token 'f31': expected one of none, f64, f32, bf16, fp16, bf16-flash,"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --judge rounding",
     "--judge: token 'judge': expected no judge, which guarantee does not depend on"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --norm rms",
     "--norm: token 'norm': expected no norm, which guarantee does not depend on"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --construction masked",
     "guarantee: expected another construction: masked heads have no Omega, and no error of"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --construction all --format csv",
     "guarantee: expected another construction: masked heads have no Omega, and no error of"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --mask pseudo-causal",
     "guarantee: expected --mask none or causal: what a pseudo-mask lets through is outside of"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --dropout 0.1",
     "guarantee: expected no lost entries of Omega: they are outside of what is proven:"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --drop-entry 1",
     "guarantee: expected no lost entries of Omega: they are outside of what is proven:"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --weight-noise 0.1",
     "guarantee: expected no --weight-noise: the rewrite has the weights that are proven:"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --bias-row-content random",
     "guarantee: expected a bias row that is empty at first: any other is outside of what is"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --preset gpt3",
     "--preset: token 'gpt3': expected a flag of guarantee, which has no --preset"),
    ("guarantee --input-norm 1 --tolerance 1e-9 --memory 1KiB",
     "guarantee: expected ... GiB of memory, and 9.54e-07 GiB may be used:"),
    (f"guarantee {MODADD} --format csv --tolerance 1e-9 --input-norm 1",
     "guarantee: expected no --input-norm with an embedding: rows of X are the model's tokens:"),
    (f"guarantee {MODADD} --format csv --tolerance 1e-9 --n 4",
     "guarantee: expected at most 3 tokens, of which it has positions, and not 4:"),
    (f"guarantee {MODADD} --format csv",
     "--tolerance: expected a tolerance to meet, or --omega with Omegas to look at"),
    ("guarantee --construction silu --n 2 --d 2 --omega 3",
     "\n  headproof guarantee --construction silu --n 2 --d 2 --omega 3 "),
    # Several tolerances.
    ("sweep --construction silu --tolerance 1e-6,1e-9",
     "--tolerance: token '1e-6,1e-9': expected one value"),
    ("check --construction silu --tolerance 1e-6,1e-9",
     "--tolerance: token '1e-6,1e-9': expected one value"),
    ("min-omega --construction silu --tolerance 1e-6,1e-6",
     "--tolerance: token '1e-6,1e-6': expected every value once, 1e-06 is repeated"),
    ("min-omega --construction silu --tolerance 1e-6 --judge total,observed",
     "--judge: token 'total,observed': expected one value"),
    # --reference none.
    ("sweep --reference none --arithmetic none",
     "--reference: token 'none': expected auto, subtract or difference with --arithmetic none:"),
    ("sweep --reference none --tolerance 1e-9 --judge total",
     "--judge: token 'total': expected observed with --reference none: the others are errors"),
    ("sweep --reference none,auto --tolerance 1e-9 --judge construction",
     "--judge: token 'construction': expected observed with --reference none: the others are"),
    ("sweep --reference none --tolerance 1e-9 --norm rel",
     "--norm: token 'rel': expected max or rms with --reference none: rel is relative to r(T)"),
    ("sweep --reference none --certify", "--certify: expected it without --reference none"),
    ("sweep --reference none --propagation",
     "--propagation: expected --reference difference"),
    ("min-omega --reference none --tolerance 1e-9",
     "--reference: token 'none': expected auto, subtract or difference: min-omega needs the"),
    ("export --reference none -o /tmp/x",
     "--reference: token 'none': expected auto, subtract or difference: export needs the"),
    (f"verify {MODADD} --reference none",
     "--reference: token 'none': expected auto, subtract or difference: verify needs the"),
    # --penalty.
    ("sweep --penalty negative --dropout 0.1",
     "--dropout: token '0.1': expected none, or --penalty positive with it: the entries of Omega"),
    ("sweep --penalty positive,negative --drop-entry 1",
     "--drop-entry: token '1': expected none, or --penalty positive with it: the entries of Omega"),
    ("min-omega --penalty negative --tolerance 1e-9 --dropout 0.1",
     "--dropout: token '0.1': expected none, or --penalty positive with it: the entries of Omega"),
    ("sweep --penalty none", "--penalty: token 'none': expected one of positive, negative"),
    ("cost --penalty negative",
     "--penalty: token 'penalty': expected no penalty, which cost does not depend on"),
    (f"attribute {MODADD} --tokens 1/2/53 --penalty negative",
     "--penalty: token 'penalty': expected no penalty, which attribute does not take"),
    # --propagation.
    ("sweep --construction silu --n 3 --d 3 --omega 9 --propagation --reference subtract",
     "--propagation: expected --reference difference"),
    # What is gone.
    ("sweep --reference-form dense",
     "token '--reference-form': this flag is gone: leave it out; the textbook's matrices are "
     "--kernel dense"),
    ("sweep --construction silu --n 3 --d 3 --omega 9 --propagation=3",
     "token '--propagation=3': expected no value"),
    ("sweep --construction silu --n 3 --d 3 --omega 9 --propagation --propagation",
     "--propagation: token 'propagation': expected the flag once"),
    ("min-omega --construction silu --n 3 --d 3 --tolerance 1e-9 --propagation",
     "--propagation: token 'propagation': expected a flag of min-omega, which has no"),
    ("check --construction silu --n 3 --d 3 --omega 9 --tolerance 1e-9 --propagation",
     "--propagation: token 'propagation': expected a flag of check, which has no --propagation"),
    # --weights-rounded and arithmetics.
    (f"convert {MODADD} -o /dev/null --weights-rounded yes",
     "--weights-rounded: token 'weights-rounded': expected no weights-rounded, which convert does"),
    (f"attribute {MODADD} --tokens 1/2/53 --weights-rounded yes",
     "--weights-rounded: token 'weights-rounded': expected no weights-rounded, which attribute"),
    ("cost --construction silu --weights-rounded yes",
     "--weights-rounded: token 'weights-rounded': expected no weights-rounded, which cost does"),
    ("cost --construction silu --arithmetic bf16",
     "--arithmetic: token 'arithmetic': expected no arithmetic, which cost does not depend on"),
    ("sweep --weights-rounded maybe", "--weights-rounded: token 'maybe': expected one of no, yes"),
    ("sweep --arithmetic bf8",
     "--arithmetic: token 'bf8': expected one of none, f64, f32, bf16, fp16, bf16-flash,"),
    # Tokens of a file.
    (f"verify {TEXTS} --tokens-file .", ".: cannot be read: Is a directory"),
    (f"verify {TEXTS} --tokens-file /no/such",
     "/no/such: cannot be read: No such file or directory"),
    (f"verify {TEXTS} --text README.md",
     "token '--text': this flag is gone: python3 -m headproof tokens MODEL FILE -o tokens.txt"),
    (f"verify {TEXTS} --characters c.json", "token '--characters': this flag is gone: it is a"),
    (f"verify {TEXTS} --tokens 1/2 --tokens-file README.md",
     "token '--tokens-file': expected it or --tokens, not both"),
    (f"verify {TEXTS} --tokens 1/2 --window 2",
     "token '--window': expected --tokens-file with it"),
    (f"verify {TEXTS} --tokens 1/2 --stride 1",
     "token '--stride': expected --tokens-file with it"),
    (f"verify {TEXTS} --tokens 1/2 --positions some",
     "--positions: token 'some': expected all, last, or positions, 0 the first and -1 the last,"),
    (f"verify {TEXTS} --tokens 1/2 --positions", "token '--positions': expected a value after it"),
    ("sweep --n 3 --judge kl --tolerance 1e-3",
     "--judge: token 'kl': expected an error of the stream: verify and min-omega alone judge"),
    (f"sweep --weights {MODADD} --n 3 --judge logits --tolerance 1e-3",
     "--judge: token 'logits': expected an error of the stream: verify and min-omega alone judge"),
    ("min-omega --n 3 --judge logits --tolerance 1e-3",
     "--judge: token 'logits': expected an error of the stream, or a weights file with"),
    ("verify tests/data/all-biases.safetensors --judge kl --tolerance 1e-3",
     "--judge: token 'kl': expected an error of the stream, or a weights file with unembed.W_U"),
    ("plot README.md --error kl",
     "--error: token 'kl': expected one of approximation, construction, rounding, native, total,"),
    # verify.
    (f"verify {MODADD} --tokens 0/0/99 --omega 20",
     "--tokens: token '99': expected an integer from 0 to 53"),
    (f"verify {MODADD} --tokens 0/0/0/0",
     "--tokens: token '0/0/0/0': expected at most 3 positions"),
    (f"verify {MODADD} --tokens ''", "--tokens: token '': expected a value, not an empty one"),
    (f"verify {MODADD} --d 32", f"--d: token '32': the weights file {MODADD} has d = 64"),
    ("verify", "token 'verify': expected one MODEL.safetensors, and no --weights"),
    ("verify a b", "token 'b': expected one MODEL.safetensors, and no --weights"),
    ("verify stable",
     "token 'stable': expected a safetensors file, or a folder that has one; there is nothing of"),
    ("verify /no/such.safetensors",
     "/no/such.safetensors: expected a file that can be read (No such file or directory)"),
    ("sweep --tokens 1", "--tokens: token '1': expected a flag of sweep, which has no --tokens"),
    (f"verify {MODADD} --construction fused",
     f"--construction: token 'fused': the weights file {MODADD} needs transformer3 or transformer"),
    (f"verify {MODADD} --arithmetic none",
     "--arithmetic: token 'none': expected another: verify judges a machine's arithmetic"),
    (f"verify {MODADD} --n 3", "--n: token 'n': expected no n, which verify does not take"),
    ("verify one,two.safetensors",
     "token 'one': expected one of stable, normal, or the path of a file (one that is"),
    ("verify 'one;two.safetensors'",
     "token 'one;two.safetensors': expected a path of at most 4095 bytes without quotes,"),
    # How words are read, whatever they say.
    ("sweep -- --omega", "--omega: cannot be opened: No such file or directory"),
    ("sweep - ", "-: cannot be opened: No such file or directory"),
    ("sweep --checkpoint 3", "token '--checkpoint': this flag is gone: leave it out; --resume"),
    ("sweep -omega=1", "token '-omega=1': expected a flag of sweep (did you mean --omega?)"),
    ("sweep -omega 1", "token '-omega': expected a flag of sweep (did you mean --omega?)"),
    ("sweep -quiet", "token '-quiet': expected a flag of sweep (did you mean --quiet?)"),
    ("sweep -qx", "token '-x': expected a flag of sweep (see headproof help sweep)"),
    ("sweep -qo", "token '-o': expected a value after it"),
    ("sweep -qonone/a --digits 0", "--digits: token '0': expected an integer from 1 to 17"),
    ("sweep -o ''", "--output: token '': expected a file name"),
    ("sweep --omeg 3", "token '--omeg': expected a flag of sweep (did you mean --omega?)"),
    ("sweep ---omega 3", "token '---omega': expected a flag of sweep (did you mean --omega?)"),
    ("sweep --omega", "token '--omega': expected a value after it"),
    ("sweep -q --verbose", "--verbose: token 'verbose': expected --quiet or --verbose, not both"),
    (f"convert {MODADD} -o -", "--output: token '-': expected a file name"),
    ("check --baseline ''", "--baseline: token '': expected a file name"),
    ("check --factor ''", "--factor: token '': expected a number"),
    ("sweep --ignore-config=", "--ignore-config: token '': expected keys, with commas between"),
    ("sweep --shard 3/2", "--shard: token '3/2': expected I/N, 1 <= I <= N <= 1000000"),
    ("sweep --memory 3KB", "--memory: token '3KB': expected a size: bytes, or a number and KiB,"),
    ("merge a.csv -x", "token '-x': expected a flag of merge (see headproof help merge)"),
    ("merge a.csv --omega 3", "--omega: token 'omega': expected no omega, which merge does not"),
    # Damage, masks and rows.
    ("min-omega --construction masked --tolerance 1e-9",
     "--construction: token 'masked': expected another construction: masked heads have no Omega"),
    ("sweep --dropout 1.5",
     "--dropout: token '1.5': expected none or a probability above 0 and at most 1"),
    ("sweep --dropout 0", "--dropout: token '0': expected none or a number above 0"),
    ("sweep --weight-noise 2",
     "--weight-noise: token '2': expected none or a number above 0 and at most 1"),
    ("sweep --head-rank 0",
     "--head-rank: token '0': expected none or an integer from 1 to 2147483647"),
    ("sweep --band 0", "--band: token '0': expected an integer from 1 to 2147483647"),
    ("export --construction attention --mask pseudo-band --n 3 --d 2 -o /dev/null",
     "--mask: token 'pseudo-band': expected none, causal or pseudo-causal to export: a file has"),
    ("sweep --construction attention --rotary half",
     "--rotary: token 'half': expected none where Q is dense"),
    ("sweep --rotary half --d-head 3", "--d-head: token '3': expected an even number of entries"),
    ("sweep --rotary half --d-head 4 --rotary-dim 3",
     "--rotary-dim: token '3': expected an even number of entries"),
    ("sweep --rotary half --d-head 4 --rotary-dim 6",
     "--rotary-dim: token '6': expected an even number of entries to turn, no more than a head's"),
    ("sweep --rotary half --d-head 4", "--rotary: token 'half': expected none, or --kernel struct"),
    ("sweep --rotary half --d-head 4 --rope-theta 0",
     "--rope-theta: token '0': expected a number above 0"),
    ("sweep --parallel yes", "--parallel: token 'yes': expected no, or --normalization layernorm"),
    ("sweep --parallel yes --construction transformer3 --normalization rmsnorm",
     "--parallel: token 'yes': expected no with three sublayers a network"),
    ("sweep --score-scale 0", "--score-scale: token '0': expected a number above 0"),
    ("sweep --shrink -1", "--shrink: token '-1': expected a number above 0"),
    ("sweep --shrink 1e-320 --omega 1e-5",
     "--shrink: token '1e-320': expected a number that does not underflow a double's normal range"),
    ("sweep --drop-entry 0",
     "--drop-entry: token '0': expected none or an integer from 1 to 9007199254740992"),
    ("sweep --construction fused --n 6 --d 4 --d-ff 16 --drop-entry 209",
     "the rewrite has fewer entries of Omega than --drop-entry says:"),
    ("sweep --construction attention --mask pseudo-causal --n 3 --d 2 --drop-entry 21",
     "the rewrite has fewer entries of Omega than --drop-entry says:"),
    ("export --construction fused --n 3 --d 2 --row 1 -o /dev/null",
     "--row: token 'row': expected no row, which export does not take"),
    ("sweep --row 0", "--row: token '0': expected all or an integer from 1 to 2147483647"),
    ("sweep --n 4 --row 2:5", "--row: token '2:5': expected all or a token from 1 to n"),
]


@pytest.mark.parametrize("line, words", LINES)
def test_line(run, line, words):
    ended = run(*shlex.split(line))
    assert (ended.code, ended.stdout) == (2, "") and says(ended.stderr, words), ended
    # guarantee also says which case it is that it is asked for.
    two = ended.stderr.startswith("headproof: guarantee: ")
    assert ended.stderr.count("\n") == 1 + two, ended


# What changes no point, of a line or of a case file (a.case), is evaluated all the same.
IDLE = [
    ("sweep --construction silu --n 2 --d 2 --omega 5 --tau 0.1",
     "headproof: --tau: token '0.1': changes nothing: no point depends on it\n"),
    ("sweep --construction silu --n 2 --d 2 --omega 5 --tau 0.1 --quiet", ""),
    ("sweep --construction attention --n 4 --d 2 --mask none,pseudo-band --band 3", ""),
    ("sweep a.case", "a.case:4: token '3': changes nothing: no point depends on it\n"),
    ("sweep a.case --band 4", ""),
]


@pytest.mark.parametrize("line, words", IDLE)
def test_what_changes_nothing_is_said(run, tmp_path, line, words):
    (tmp_path / "a.case").write_text(
        "[plain]\nn = 2\nd = 2\nband = 3\n[band]\nmask = pseudo-band\nband = 3\nn = 2\nd = 2\n")
    ended = run(*shlex.split(line), "--dry-run", cwd=tmp_path)
    said = [text for text in ended.stderr.splitlines(True) if "changes nothing" in text]
    assert (ended.code, "".join(said)) == (0, words), ended


@pytest.mark.parametrize("flags", ["", "--kernel structured --propagation"])
def test_memory_counts_all_that_a_point_takes(run, flags):
    """A point is refused a little below what it needs, and evaluated a little above."""
    line = f"sweep --construction silu --n 40 --d 30 --omega 20 --quiet {flags} --memory"
    needed = float(re.search(r"a point needs (\S+) GiB", run(*f"{line} 1KiB".split()).stderr)[1])
    for share, code in (0.96, 2), (1.04, 0):
        assert run(*f"{line} {share * needed * 2**30:.0f}".split()).code == code
