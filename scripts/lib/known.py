#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""known.py - keeps the output of deterministic tests, by the content of all that they depend on.

    known.py PROGRAM [ARGUMENT...]

Runs PROGRAM; or, if a run with the same arguments and the same content of its file succeeded
before, prints the output of that run. PROGRAM must read nothing else and do the same in each run.

It keeps only successes, in the cache folder (cache.sh). TRACEBUF_ANEW=1 in the environment: it uses
no kept output and runs everything.
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import time

DAYS = 60       # unused results are removed after so many days


def folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "tracebuf", "known")


def key_of(*parts):
    """Return the name of a result that depends only on these texts (bytes or str)."""
    key = hashlib.sha256()
    for part in parts:
        part = part if isinstance(part, bytes) else part.encode()
        key.update(b"%d\n" % len(part) + part)
    return key.hexdigest()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def lookup(key):
    """Return the kept output, or None."""
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
    """Keep the output of a run that succeeded; without a cache folder keep nothing."""
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
