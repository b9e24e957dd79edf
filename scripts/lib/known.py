#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""known.py - what deterministic tests have said, by the content of all that they depend on.

    known.py PROGRAM [ARGUMENT...]

Runs PROGRAM, or prints what it printed when it last succeeded, if its file has the same content and
the arguments are the same. Only for a program that reads nothing else and does the same in each run.

Only successes are kept, in the cache folder (cache.sh). TRACEBUF_ANEW=1 in the environment: nothing
that was kept is used, everything runs.
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import time

DAYS = 60       # what nobody has asked for since is removed


def folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "tracebuf", "known")


def key_of(*parts):
    """The name of a result that depends on these texts (bytes or str), and on nothing else."""
    key = hashlib.sha256()
    for part in parts:
        part = part if isinstance(part, bytes) else part.encode()
        key.update(b"%d\n" % len(part) + part)
    return key.hexdigest()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def lookup(key):
    """What was said, or None."""
    path = os.path.join(folder(), key)
    if os.environ.get("TRACEBUF_ANEW"):
        return None
    try:
        said = content(path)
        os.utime(path)
    except OSError:
        return None
    return said


def keep(key, said):
    """Keep what was said in a run that succeeded; without a cache folder nothing is kept."""
    try:
        os.makedirs(folder(), exist_ok=True)
        for entry in os.scandir(folder()):
            if time.time() - entry.stat().st_mtime > DAYS * 86400:
                os.unlink(entry.path)
        with tempfile.NamedTemporaryFile(dir=folder(), delete=False) as file:
            file.write(said)
        os.replace(file.name, os.path.join(folder(), key))
    except OSError:
        pass


def main():
    command = sys.argv[1:]
    key = key_of(content(command[0]), *command[1:])
    said = lookup(key)
    if said is not None:
        sys.stdout.buffer.write(b"# the same program has passed before:\n" + said)
        return 0
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(done.stdout)
    if done.returncode == 0:
        keep(key, done.stdout)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main())
