# SPDX-License-Identifier: GPL-2.0-only
"""tree.py - asks git about the tree, and names what the jobs of a run depend on."""
import hashlib
import os
import re
import subprocess

# variables that builds and tests read
ENVIRONMENT = re.compile(r"(TRACEBUF|BENCH|EXPORT|FILTER|FUZZ|RING|RULE|SEQUENCE)_|"
                         r"(AR|CC|CFLAGS|CXX|CXXFLAGS|LDFLAGS|([ALT]|UB)SAN_OPTIONS|HISTORIES|"
                         r"TRACE_PROCESSOR)$")


def git(tree, *words):
    """Return what git prints, bytes. None: git fails, as in a tree without a repository."""
    # a repository around the tree does not know its files
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(tree))}
    try:
        said = subprocess.run(["git", "-C", tree, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=env, check=False)
    except OSError:
        return None
    return said.stdout if said.returncode == 0 else None


def run_key(tree, *options):
    """Return a word for all that decides what the jobs of a run do: the tree's commit and the
    changes since then, options, the environment. If git fails, no other run has the word."""
    said = [git(tree, *words) for words in (
        ("rev-parse", "HEAD"), ("diff", "HEAD"),
        ("ls-files", "-o", "--exclude-standard", "-z"))]
    if None in said:
        return os.urandom(32).hex()
    env = sorted(each for each in os.environ.items() if ENVIRONMENT.match(each[0]))
    key = hashlib.sha256(b"\0".join([*said, repr((options, env)).encode()]))
    for name in sorted(said[-1].split(b"\0")):
        try:
            with open(os.path.join(os.fsencode(tree), name), "rb") as data:
                key.update(name + b"\0" + data.read())
        except OSError:
            pass
    return key.hexdigest()
