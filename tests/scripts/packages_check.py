#!/usr/bin/env python3
"""Packages are made and used: packages_check.py ROOT BUILD PROGRAM

scripts/package makes them of BUILD. The tar and the .deb are unpacked into empty roots that hold nothing else but the C library and, for
the .deb, what is in the packages that it depends on; there the program runs, with the bits of PROGRAM and its own zoo. The library is used
by pkg-config; manual pages and the completion know every option of --help.
"""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root, build, program = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LARGEST = 16e6  # of the program with its own libraries
C_LIBRARY = ("libc", "libm")
AS_ROOT = [] if os.geteuid() == 0 else [shutil.which("unshare"), "--map-root-user"]
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def libraries(file):
    """name -> file of the shared libraries that a program loads, with the loader."""
    found = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", file)))
    loader = re.search(r"^\s*(/\S*ld-linux\S*)", run("ldd", file), re.MULTILINE)[1]
    return found, loader


def put(file, empty, place=None):
    place = empty / (place or file).lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(os.path.realpath(file), place)


def check_runs(empty, command):
    """In the root `empty`: the zoo is its own, and a run has the bits of PROGRAM."""
    environment = {"LD_ORIGIN_PATH": os.path.dirname(command)}  # the loader finds $ORIGIN by /proc, which is not there

    def within(*arguments):
        return run(*AS_ROOT, shutil.which("chroot"), empty, command, *arguments, env=environment)
    assert within("run", "chatter", "--quiet") == run(program, "run", "chatter", "--quiet"), "the bits differ"
    assert len(within("list", "models").splitlines()) > 50
    assert "(/" in within("check", "stick_slip").splitlines()[0] and str(root) not in within("check", "stick_slip")
    (empty / "data").mkdir()
    within("run", "stick_slip", "-o", "/data/s.h5", "--events", "/data/e.csv", "--quiet")
    assert (empty / "data" / "s.h5").stat().st_size > 10000


def check_tar(file, folder):
    empty = folder / "of_tar"
    (empty / "moved").mkdir(parents=True)
    run("tar", "-C", empty / "moved", "-xJf", file)
    tree = next((empty / "moved").iterdir())
    size = sum(part.stat().st_size for part in [tree / "bin" / "perp", *(tree / "lib" / "perp").iterdir()])
    assert size < LARGEST, f"the program with its own libraries has {size} bytes"
    found, loader = libraries(tree / "bin" / "perp")
    own = {path.name for path in (tree / "lib" / "perp").iterdir()}
    for name, place in found.items():
        if name.split(".")[0] in C_LIBRARY:
            put(place, empty)
        else:
            assert name in own and place.startswith(str(tree)), f"{name} is not the tar's own: {place}"
    put(loader, empty)
    check_runs(empty, "/" + str((tree / "bin" / "perp").relative_to(empty)))
    return size


def check_deb(file, folder):
    empty = folder / "of_deb"
    run("dpkg-deb", "-x", file, empty)
    depends = {re.match(r"[\w.+-]+", part.strip())[0] for part in run("dpkg-deb", "-f", file, "Depends").split(",")}
    assert not any("siconos" in name or "hdf5" in name for name in depends), depends
    found, loader = libraries(empty / "usr" / "bin" / "perp")
    for name, place in found.items():
        owner = run("dpkg", "-S", "*" + os.path.realpath(place).removeprefix("/usr")).split(":")[0]
        assert owner in depends, f"{name} is in {owner}, on which the package does not depend: {sorted(depends)}"
        put(place, empty)
    put(loader, empty)
    check_runs(empty, "/usr/bin/perp")
    check_manual(empty / "usr")
    return depends


def options_of_help(command):
    text = run(program, command, "--help")
    return {name for line in re.findall(r"^  (-[^ ].*?)(?:  |$)", text, re.MULTILINE) for name in OPTION.findall(line)}


def check_manual(usr):
    completion = usr / "share" / "bash-completion" / "completions" / "perp"
    commands = re.findall(r"^  ([a-z]+) ", run(program, "--help").split("commands:")[1].split("\n\n")[0], re.MULTILINE)
    assert "run" in commands
    for command in commands:
        page = gzip.decompress((usr / "share" / "man" / "man1" / f"perp-{command}.1.gz").read_bytes()).decode()
        told = set(OPTION.findall(page.replace("\\-", "-").replace("\\fB", " ").replace("\\fR", " ")))
        options = options_of_help(command)
        assert "--help" in options and options <= told, f"the page of {command} lacks {sorted(options - told)}"
        script = f'source "{completion}"; COMP_WORDS=(perp {command} -); COMP_CWORD=2; _perp; echo "${{COMPREPLY[@]}}"'
        completed = set(run("bash", "-c", script).split())
        assert completed == options, f"the completion of {command} differs in {sorted(completed ^ options)}"
    script = f'source "{completion}"; COMP_WORDS=(perp run stick_sl); COMP_CWORD=2; _perp; echo "${{COMPREPLY[@]}}"'
    path = f"{program.parent}:{os.environ['PATH']}"
    assert "stick_slip" in run("bash", "-c", script, env={**os.environ, "PATH": path}).split()


def check_library(file, folder):
    run("dpkg-deb", "-x", file, folder / "of_dev")
    usr = folder / "of_dev" / "usr"
    pc = next(usr.rglob("perp.pc"))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSTEM_LIBRARY_PATH": "", "PKG_CONFIG_SYSTEM_INCLUDE_PATH": ""}
    flags = run("pkg-config", "--cflags", "--libs", "perp", env=environment).split()
    assert any(flag.startswith(f"-I{folder}") for flag in flags), flags
    source = root / "examples" / "canonical.cpp"
    run("g++", "-std=c++20", source, *flags, "-o", folder / "canonical")
    (folder / "output.txt").write_text(run(folder / "canonical", cwd=folder))
    run(sys.executable, root / "scripts" / "compare_output.py", source.with_suffix(".expected"), folder / "output.txt")


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    files = run(root / "scripts" / "package", "--build", build, "--to", work / "packages").split()
    (deb,), (dev,), (tar,) = ([file for file in files if part in pathlib.Path(file).name]
                              for part in ("perp_", "libperp-dev", ".tar.xz"))
    assert check_deb(deb, work)
    print("with its own libraries:", check_tar(tar, work), "bytes")
    check_library(dev, work)
    wrong = subprocess.run([root / "scripts" / "package", "--bild", "x"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "unknown argument '--bild'" in wrong.stderr
print("packages are whole")
