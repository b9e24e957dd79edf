#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The tests of the ring catch a broken ring. If this fails, those tests pass with a fault that loses
or tears events in users' recordings.

Applies each entry of ring_mutants.txt to a copy of the ring, builds the tests that must catch it,
and runs them until one fails.  Prints a KTAP result for each mutant: ok and the test that caught
it, or not ok.  A text that is not found exactly once fails, so that the table follows the ring.

    test_ring_mutants.py [-j N] [-k] DIRECTORY [NAME...]

Builds in DIRECTORY, which has nothing else.  NAME: only these mutants.  CC: the compiler.  A caught
mutant is not tried again while the mutant, the ring, the tests and the compiler are the same
(scripts/lib/known.py); TRACEBUF_ANEW=1 tries all.
"""

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import mutants as common    # noqa: E402
from mutants import CC, TREE, run    # noqa: E402
import known    # noqa: E402

COMMON = ["-std=gnu11", "-w", "-fno-strict-aliasing", "-DTB_RING_PATHS"]
MODEL = ["-O1", "-DTB_RING_HOOKS", "-Iselftests/unit/ring"]
RING = ["module/ring/writer.c", "module/ring/claim.c", "module/ring/reader.c"]
WEAK = ["-O2", "-DTB_RING_HOOKS", "-DTB_RING_WEAK", "-Iselftests/unit/ring", "-Imodule",
        "-I" + os.path.join(TREE, "selftests/unit/ring/weak")]
# for the sources of the ring only
RING_FLAGS = {"weak": ["-fsanitize=thread"]}
# tests that must catch a mutant: flags, sources and arguments of one program after the other
CATCHERS = {
    "model": [(MODEL, ["selftests/unit/ring/%s.c" % part
                       for part in (name, "ring_model", "ring_model_read")], args)
              for name, args in (("test_ring", []), ("test_ring_loss", []),
                                 ("test_ring_explore", ["-x"]))],
    "weak": [(WEAK, ["selftests/unit/ring/test_ring_explore.c", "selftests/unit/ring/ring_weak.c",
                     "selftests/unit/ring/ring_model.c", "selftests/unit/ring/ring_model_read.c",
                     "module/crash/block_walk.c"], ["-x"])],
    "damage": [(["-O2", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                 "-Iselftests/unit/ring"], ["selftests/unit/ring/test_ring_damage.c"], [])],
    "signals": [(["-O2", "-pthread", "-Iselftests/bench/user"],
                 ["selftests/unit/ring/stress_ring_signals.c"], ["40"])],
    "threads": [(["-O1", "-g", "-fsanitize=thread", "-pthread", "-Iselftests/unit/ring"],
                 ["selftests/unit/ring/test_ring_threads.c"], ["300000"])],
}
# attempts for tests that depend on chance: on a busy machine two threads may not meet
TRIES = {"signals": 8, "threads": 8}
os.environ["TSAN_OPTIONS"] = "halt_on_error=1"


def compile_object(tree, catcher, flags, source, out):
    """Compile one source in @tree: None, or the compiler's output."""
    if source in RING:
        flags = flags + RING_FLAGS.get(catcher, [])
    status, output = run(CC + COMMON + flags + ["-I", os.path.join(TREE, "uapi"), "-c",
                                                "-o", out, source], tree)
    return output if status else None


def copy_tree(to):
    """Copy the unchanged sources that the tests need."""
    shutil.rmtree(to, ignore_errors=True)
    for folder in "module/ring", "module/crash", "selftests/unit/ring", "selftests/bench/user":
        os.makedirs(os.path.join(to, folder))
        for name in os.listdir(os.path.join(TREE, folder)):
            if (folder == "module/ring" or "ring" in name or name.startswith("block_walk.")) and \
                    name.endswith((".c", ".h")):
                shutil.copy(os.path.join(TREE, folder, name), os.path.join(to, folder, name))


def object_name(where, catcher, source):
    """The path of the object of a source."""
    return os.path.join(where, "%s-%s.o" % (catcher, os.path.basename(source)[:-2]))


def try_mutant(mutant, where, whole):
    """(True, the test that caught it), or (False, why it was not caught)."""
    tree = os.path.join(where, mutant.name)
    copy_tree(tree)
    path = os.path.join(tree, "module/ring", mutant.file)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        text = mutant.apply(text)
    except ValueError as error:
        return False, "does not apply: %s" % error
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    built = {}
    for flags, sources, arguments in CATCHERS[mutant.catcher]:
        for source in sources + RING:
            # a changed header breaks all objects
            broken = mutant.file.endswith(".h") or source == "module/ring/" + mutant.file
            if not broken:
                built[source] = object_name(whole, mutant.catcher, source)
            elif source not in built:
                built[source] = object_name(tree, mutant.catcher, source)
                output = compile_object(tree, mutant.catcher, flags, source, built[source])
                if output:
                    return False, "does not compile: %s" % output
        name = os.path.basename(sources[0])[:-2]
        status, output = run(CC + flags + ["-o", name] + [built[s] for s in sources + RING], tree)
        if status:
            return False, "does not link: %s" % output
        for _ in range(TRIES.get(mutant.catcher, 1)):
            status, output = run(["./" + name] + arguments, tree)
            if status is None:
                return False, "%s: %s" % (name, output)
            if status:
                return True, "%s: %s" % (name, common.what_failed(output))
    return False, "nothing caught it"


def sources_key(whole):
    """The key of everything that a result depends on, except the mutant."""
    parts = [common.version(CC), known.content(__file__), known.content(common.__file__),
             known.content(os.path.join(TREE, "uapi", "linux", "tracebuf.h"))]
    for folder, _, names in sorted(os.walk(whole)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                parts += [name, known.content(os.path.join(folder, name))]
    return known.key_of(*parts)


def try_and_keep(mutant, where, whole, key):
    """try_mutant(), and remember that it was caught."""
    caught, what = try_mutant(mutant, where, whole)
    if caught:
        known.keep(key, what.encode())
    return caught, what


def build_whole(whole, pool, catchers):
    """Compile the unchanged objects, for the sources that a mutant does not change."""
    jobs = {}
    for catcher in catchers:
        for flags, sources, _ in CATCHERS[catcher]:
            for source in sources + RING:
                jobs[object_name(whole, catcher, source)] = (catcher, flags, source)
    for output in pool.map(lambda out: compile_object(whole, *jobs[out], out), jobs):
        if output:
            raise SystemExit("Bail out! the ring as it is does not compile\n" + output)


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Do the tests catch a broken ring?")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 2, dest="jobs")
    parser.add_argument("-k", action="store_true", dest="keep", help="keep the copies")
    parser.add_argument("directory", help="where to build")
    parser.add_argument("name", nargs="*", help="only these mutants")
    args = parser.parse_args()
    where = os.path.abspath(args.directory)
    mutants = common.read_table(os.path.join(HERE, "ring_mutants.txt"))
    for mutant in mutants:
        mutant.catcher = mutant.catcher or "model"
    if args.name:
        mutants = [m for m in mutants if m.name in args.name]
    whole = os.path.join(where, "whole")
    copy_tree(whole)
    print("KTAP version 1\n1..%d" % len(mutants), flush=True)
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        sources = sources_key(whole)
        keys = {m: known.key_of(sources, m.name, m.file, repr(m.edits)) for m in mutants}
        before = {m: known.lookup(keys[m]) for m in mutants}
        build_whole(whole, pool, sorted({m.catcher for m in mutants if not before[m]}))
        results = pool.map(lambda m: (True, before[m].decode()) if before[m] else
                           try_and_keep(m, where, whole, keys[m]), mutants)
        for number, (mutant, (caught, what)) in enumerate(zip(mutants, results), 1):
            print("# %s: %s\n# %s" % (mutant.file, mutant.why, what.replace("\n", "\n#   ")))
            print("%sok %d mutant %s" % ("" if caught else "not ", number, mutant.name),
                  flush=True)
            failed += not caught
            if not args.keep:
                shutil.rmtree(os.path.join(where, mutant.name), ignore_errors=True)
    print("# %d of %d caught" % (len(mutants) - failed, len(mutants)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
