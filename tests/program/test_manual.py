"""Pages made of `headproof help --json`: docs/columns.md and keys.md, the manual page, completion;
and what `make install` puts somewhere, and `make uninstall` takes away."""

import functools
import json
import os
import re
import shutil
import stat
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT

MODADD = ROOT / "cases/models/modadd53-silu.safetensors"
INSTALL = ["sh", "tools/install"]


def need(name):
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name}")


@pytest.fixture(scope="module")
def text(run):
    return run("help", "--json").stdout


@pytest.fixture(scope="module")
def dump(text):
    return json.loads(text)


@pytest.fixture(scope="module")
def page(text):
    """page(name): what tools/manual makes of it."""
    @functools.cache
    def make(name):
        return subprocess.run([sys.executable, "tools/manual", name], cwd=ROOT, input=text,
                              check=True, capture_output=True, text=True).stdout
    return make


@pytest.mark.parametrize("name", ["columns", "keys"])
def test_the_page_is_the_program_s(page, name):
    """With every column's unit and meaning."""
    assert page(name) == (ROOT / f"docs/{name}.md").read_text()


# The first line that a command writes, against its columns, in order.
TABLES = [
    ("sweep", "--construction silu --n 2 --d 2 --omega 5 --propagation"),
    ("depth", "--construction silu --n 2 --d 2 --depth 1 --omega 5 --propagation"),
    ("min-omega", "--construction silu --n 2 --d 2 --tolerance 1 --judge construction"),
    ("cost", "--n 2 --d 2 --measure"),
    ("verify", f"{MODADD} --tokens 0/0/53 --omega 20 --format csv -q"),
    ("attribute", f"{MODADD} --tokens 0/0/53 --omega 20 --format csv -q"),
    ("guarantee", f"{MODADD} --omega 20 --format csv -q"),
]


@pytest.mark.parametrize("command, arguments", TABLES)
def test_columns_in_order(run, dump, command, arguments):
    columns = {one["name"]: one["columns"] for one in dump["commands"]}[command]
    header = run(command, *arguments.split()).stdout.split("\n")[0]
    assert header.split(",") == [column["name"] for column in columns]


def test_every_column_has_a_text(dump):
    texts = [column for command in dump["commands"] for column in command["columns"] or []]
    assert len(texts) > 100
    assert [column for column in texts if not (column["unit"] and column["meaning"])] == []


def test_python_knows_the_columns_of_words(dump):
    """All that the page has, without numpy; and no others."""
    source = (ROOT / "python/headproof/tables.py").read_text()
    words = re.search(r"^WORDS.*?split", source, re.M | re.S)[0]
    named = {column["name"] for command in dump["commands"] for column in command["columns"] or []
             if column["unit"] in ("word", "words", "path", "word or path")}
    assert len(named) > 10 and named <= set(re.findall(r"[a-z0-9_-]+", words))


def test_the_manual_page_has_everything(page, dump):
    text = page("man").replace("\\-", "-")
    assert text.startswith(".TH HEADPROOF 1 ")
    for what in dump["commands"]:
        assert f"\n\\fB{what['name']}\\fR" in text
    for what in dump["axes"]:
        assert f"\n\\fB--{what['name']}\\fR\n" in text
    for what in dump["flags"] + [own for one in dump["commands"] for own in one["own_flags"]]:
        assert f"\\fB--{what['name']}\\fR" in text and f"\n{what['help']}\n" in text


def test_groff_takes_the_manual_page(page):
    need("groff")
    made = subprocess.run(["groff", "-ww", "-b", "-man", "-Tascii"], input=page("man"), check=True,
                          capture_output=True, text=True)
    assert made.stderr == "" and "EXIT" in re.sub(".\x08", "", made.stdout)


def test_text_of_roff_is_text(dump, text, page):
    """Dashes, backslashes, and what stands at a line's beginning."""
    changed = json.loads(text)
    changed["axes"][0]["help"] = ".a \\ b-c\n'd"
    made = subprocess.run([sys.executable, "tools/manual", "man"], cwd=ROOT, check=True, text=True,
                          input=json.dumps(changed), capture_output=True).stdout
    assert "\n\\&.a \\e b\\-c\n\\&'d:\n" in made


# What bash offers for a line, whose words are as bash cuts them.
OFFERS = [
    ("mi", "min-omega"),
    ("--v", "--version"),
    ("help att", "attribute"),
    ("help sweep --a", "--all"),
    ("help --j", "--json"),
    ("sweep --construction ff", "ffn3"),
    ("sweep --construction silu,transformer", "silu,transformer3 silu,transformer"),
    ("sweep --norm r", "rms rel"),
    ("sweep --activation = g", "gelu gelu_new"),
    ("sweep --format j", "json jsonl"),
    ("sweep --propa", "--propagation"),
    ("merge --fo", "--format"),
    ("merge --format j", "json jsonl"),
    ("cost --propa", ""),
    ("cost --preset gpt3", "gpt3-6.7b gpt3"),
    ("cost --omeg", ""),
    ("check --baseline x", ""),
    ("sweep --omega 1", ""),
]


@pytest.mark.parametrize("words, offers", OFFERS)
def test_bash_completes(page, tmp_path, words, offers):
    need("bash")
    (tmp_path / "completion").write_text(page("bash"))
    script = f". ./completion; COMP_WORDS=(headproof {words}); " \
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headproof; echo ${COMPREPLY[*]}"
    said = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == (offers + "\n", "")


def test_zsh_has_every_flag(page, dump, tmp_path):
    text = page("zsh")
    for command in dump["commands"]:
        names = command["axes"] + command["flags"] + [one["name"] for one in command["own_flags"]]
        section = re.search(rf"^    {command['name']}\)\n(.*?)^        ;;", text, re.M | re.S)
        assert (re.findall(r"^        '--([a-z-]+)", section[1], re.M) if section else []) \
            == (names + ["help"] if names else [])
    assert "'--mask=[which keys a token sees; pseudo-masks are entries of Omega in the weights]:mask:" \
        "_headproof_words none causal " in text
    if shutil.which("zsh"):
        (tmp_path / "_headproof").write_text(text)
        subprocess.run(["zsh", "-n", tmp_path / "_headproof"], check=True)


def test_help_is_asked_in_any_way(run):
    """Of a command, wherever the word stands, and of the program."""
    whole, sweep = run("help").stdout, run("help", "sweep").stdout
    assert whole != sweep and sweep.startswith("usage: headproof sweep")
    for word in "--help", "-h":
        assert run(word).stdout == whole
        assert run("sweep", word).stdout == run("sweep", "--n", "3", word).stdout == sweep
        assert run(word, "sweep").code == 2
        assert run("sweep", "--", word).code == 2


def test_other_pages_and_words(run, tmp_path):
    made = subprocess.run([sys.executable, "tools/manual", "pages"], cwd=ROOT, input="", text=True,
                          capture_output=True)
    assert made.returncode == 1 and "man|bash|zsh|columns|keys" in made.stderr
    gone = run("manual", "man")
    assert gone.code == 2 and "token 'manual': this command is gone: make install" in gone.stderr
    assert run("help", "--json", "x").code == 2
    with open("/dev/full", "w") as full:
        ended = subprocess.run([PROGRAM, "help", "--json"], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 99 and b"stdout" in ended.stderr


def test_a_dry_run_names_those_that_have_one(run, dump):
    """It is refused by name, with the commands that have it, by those whose help has it not."""
    having = [one["name"] for one in dump["commands"] if "dry-run" in one["flags"]]
    listed = ", ".join(having[:-1]) + " and " + having[-1]
    for one in dump["commands"]:
        if one["flags"] and one["name"] not in having:
            said = run(one["name"], MODADD, "--dry-run")
            why = f"expected a flag of {one['name']}, which has no --dry-run: {listed} have one"
            assert said.code == 2 and why in said.stderr


# ---- make install ----------------------------------------------------------------------------


def files_of(root):
    """What is there: (path, directory or not)."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def install(what, program=PROGRAM, **env):
    ended = subprocess.run([*INSTALL, what, program], cwd=ROOT, capture_output=True, text=True,
                           env={**os.environ, "DESTDIR": "", **{k: str(v) for k, v in env.items()}})
    return ended.returncode, ended.stdout + ended.stderr


def test_what_is_installed_goes_again(page, tmp_path):
    """Everything is there, works where it is, and goes; what others have put there stays."""
    root = tmp_path / "a root"
    (root / "usr/share/man/man1").mkdir(parents=True)
    (root / "usr/share/man/man1/other.1").touch()
    before = files_of(root)
    where = {"DESTDIR": root, "PREFIX": "/usr", "PYTHONDIR": "/usr/lib/py"}
    assert install("install", **where)[0] == 0
    usr = root / "usr"
    assert (usr / "bin/headproof").read_bytes() == open(PROGRAM, "rb").read()
    assert (usr / "share/man/man1/headproof.1").read_text() == page("man")
    assert (usr / "share/bash-completion/completions/headproof").read_text() == page("bash")
    assert (usr / "share/zsh/site-functions/_headproof").read_text() == page("zsh")
    for module in (ROOT / "python/headproof").glob("*.*"):
        assert (usr / "lib/py/headproof" / module.name).read_bytes() == module.read_bytes()
    documents = usr / "share/doc/headproof"
    assert (documents / "docs/columns.md").read_text() == (ROOT / "docs/columns.md").read_text()
    subprocess.run([usr / "bin/headproof", "sweep", "cases/omega.case", "--dry-run"],
                   cwd=documents, check=True, capture_output=True)
    (usr / "lib/py/headproof/__pycache__").mkdir(exist_ok=True)
    (usr / "lib/py/headproof/__pycache__/tables.cpython-311.pyc").touch()
    assert install("uninstall", **where)[0] == 0
    assert files_of(root) == before


def test_nothing_is_left(tmp_path):
    """And what installed pages name is there before, pictures and tables among them."""
    assert install("install", DESTDIR=tmp_path)[0] == 0
    pages = sorted((tmp_path / "usr/local/share/doc/headproof").rglob("*.md"))
    lacking = [(page.name, link) for page in pages
               for link in re.findall(r"\]\(([^)# ]+)", page.read_text())
               if not re.match("[a-z]+:", link) and not (page.parent / link).exists()]
    assert len(pages) > 10 and lacking == []
    assert install("uninstall", DESTDIR=tmp_path)[0] == 0
    assert files_of(tmp_path) == []


def test_what_others_own_stays(tmp_path):
    """Without a DESTDIR too, whoever asks for which directory of Python's, and twice."""
    root = tmp_path / "clean"
    (root / "share/doc").mkdir(parents=True)
    mask = os.umask(0o077)
    try:
        assert install("install", PREFIX=root, PYTHONDIR=root / "py/3")[0] == 0
        narrow = [path for path in root.rglob("*") if path.is_dir()
                  and path not in (root / "share", root / "share/doc")
                  and stat.S_IMODE(path.stat().st_mode) != 0o755]
        (root / "bin/other").touch()
        (root / "share/doc/headproof/mine").touch()
        assert install("install", PREFIX=root)[0] == install("uninstall", PREFIX=root)[0] == 0
        assert "/manifest" in install("uninstall", PREFIX=root)[1]
    finally:
        os.umask(mask)
    assert narrow == [] and files_of(root) == [
        "bin", "bin/other", "share", "share/doc", "share/doc/headproof",
        "share/doc/headproof/mine"]


def test_a_prefix_is_absolute():
    code, said = install("install", PREFIX="usr", DESTDIR="/nowhere")
    assert code == 2 and "PREFIX=usr: expected an absolute path" in said


def test_without_python_there_are_no_pages(tmp_path):
    """And all else is there."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in os.listdir("/usr/bin"):
        if not name.startswith(("python", "pypy")):
            (bin / name).symlink_to(f"/usr/bin/{name}")
    code, said = install("install", DESTDIR=tmp_path / "root", PATH=bin)
    assert code == 0 and "no python3: neither the manual page nor completion" in said
    installed = files_of(tmp_path / "root")
    assert "usr/local/bin/headproof" in installed
    assert not [path for path in installed if "man1" in path]


def test_make_installs():
    """make passes on what it was given; -n: it shows the command."""
    need("make")
    env = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}
    said = subprocess.run(["make", "-n", "uninstall", "PREFIX=/x", "DESTDIR=/y"], cwd=ROOT, env=env,
                          capture_output=True, text=True)
    assert "PREFIX='/x' DESTDIR='/y' PYTHONDIR='' sh tools/install uninstall" in said.stdout


APT = """#!/bin/sh
case $* in
*update) [ $((count = $(cat count) - 1)) -lt 0 ] && exit 0
    echo $count >count; echo "E: $(cat why)" >&2; exit 100 ;;
*) echo $* ;;
esac
"""
INSTALLED = "-q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install some-package"


@pytest.mark.parametrize("why, said, left", [
    ("Could not get lock L", "deps: waiting for another apt-get", 0),
    ("No such host", "E: No such host", 1),
])
def test_another_apt_get_is_waited_for(tmp_path, why, said, left):
    """What holds apt's lists, or dpkg, is; another failure is not."""
    programs = {"apt-get": APT, "sleep": "#!/bin/sh\n:\n", "sudo": '#!/bin/sh\nexec "$@"\n'}
    (tmp_path / "bin").mkdir()
    for name, script in programs.items():
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "why").write_text(why)
    (tmp_path / "count").write_text("2\n")
    ended = subprocess.run(
        ["sh", ROOT / "tools/deps", "programs", "some-package"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PROBED": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    lines = [line for line in ended.stdout.splitlines() if "installing" not in line]
    assert lines == ["deps: not found: some-package", said, INSTALLED]
    assert (tmp_path / "count").read_text() == f"{left}\n"
