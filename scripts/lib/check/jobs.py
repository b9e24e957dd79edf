# SPDX-License-Identifier: GPL-2.0-only
"""jobs.py - makes the jobs of a run of scripts/check: builds, tests in user space, tests in guests.

selftests/times.tsv has the seconds of each job in a whole run on two processors. They decide only
the order of the jobs, and which tests share a guest.
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys

import affected
import rooms
from pool import Job
from tree import git

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
import known    # noqa: E402

STOCK = ["6.1", "6.12"]
MORE = ["6.12-rt", "6.12-kasan", "6.12-kcsan"]      # what --full adds
DEBIAN = ["6.1", "6.12", "6.12-cloud", "6.12-rt", "newest", "6.12-arm64"]

# There are two tiers. The default run leaves these jobs and tests to --full: they take long, or
# their guests need special options. If a file changed, the default run adds the jobs that
# affected.py assigns to the file.
FULL = ["abidiff", "bench", "crashes *", "flips *", "headers", "kdump *", "panics *", "reboots",
        "suspend *", "unit mutants", "unit page",
        "* icount", "* isolated", "* lockdown", "* numa", "* poison", "* region",
        "test_babeltrace", "test_docs", "test_faults", "test_follow",
        "test_sizes", "test_suspend", "test_suspend_jump", "test_top"]
# On the older kernel the default run has only the tests that depend on the kernel's interfaces.
SHORT_KERNEL = "6.1"
SHORT = ["test_context", "test_control", "test_copies", "test_events",
         "test_fifo", "test_header", "test_hotplug", "test_ioctl", "test_loss", "test_mapping", "test_mmap",
         "test_modes", "test_poll", "test_producer", "test_producer_chunks", "test_provider",
         "test_read", "test_rule_ioctl", "test_select", "test_snapshot", "test_system"]
JUDGED = 4              # recordings of each test that the default run checks
JUDGED_EVENTS = 3000    # of each test, the default run checks exports of about as many events
ADDED_SECONDS = 300     # of processor time that a change may add to the default run

GUEST_SECONDS = 200     # tests shorter than that share a guest
UNKNOWN_SECONDS = 20    # for a test that times.tsv does not have
BOOT_SECONDS = 6

# Each node has one processor and half of the memory.
NODES = "-object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M " \
    "-numa node,memdev=m0,cpus=0 -numa node,memdev=m1,cpus=1 -smp 2,sockets=2,cores=1"

# To expand the kernel's trace headers again, the module needs macros in their style.
MACROS = "MACRO_ARG_UNUSED,MACRO_ARG_REUSE,TRAILING_SEMICOLON,OPEN_ENDED_LINE,COMPLEX_MACRO," \
    "PARENTHESIS_ALIGNMENT,NEW_TYPEDEFS,SPACING"
CHECKPATCH = ["uapi/linux/*.h", "include/linux/*.h", "module/*.[ch]", "module/*/*.[ch]",
              "module/events/*/*.h", "samples/*/*.c",
              "selftests/torture/torture.h", "selftests/torture/kernel/*.[ch]",
              "selftests/vm/kernel/*.c"]


def looks_for_errors(kernel):
    """Is the kernel built with a sanitizer? It is too slow for tests that measure time."""
    return kernel.endswith(("-kasan", "-kcsan"))


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


class Jobs:
    """Makes the jobs. They share the state in run, see scripts/check.

    @added: patterns of tests that the default run has although they belong to --full.
    @only: patterns of the tests in guests that the caller wants; None: all.
    """

    def __init__(self, run, kernels, added=(), only=None):
        self.run = run
        self.only = only
        self.short = len(kernels) > 1       # are tests left out on the older kernel?
        self.added = added
        self.room = ADDED_SECONDS
        self.no_room = []       # tests that ADDED_SECONDS kept out of the default run
        self.list = []
        self.cores = os.cpu_count() or 1

    def is_full(self, name, seconds):
        """Does only --full run this job or test?"""
        if not matches(name, FULL):
            return False
        if self.short and SHORT_KERNEL in name.split() or not matches(name, self.added):
            return True
        if seconds > self.room:
            self.no_room.append(name)
            return True
        self.room -= seconds
        return False

    # ---- kinds of jobs --------------------------------------------------

    def add(self, name, function, needs=(), seconds=30, full=None):
        seconds = self.run.times.get(name, seconds)
        self.list.append(Job(name, function, needs, seconds))
        self.list[-1].full = self.is_full(name, seconds) if full is None else full
        return self.list[-1]

    def build(self, name, suite, command, needs=(), seconds=60, env=None, others=None):
        """A build passes if the command succeeds and warns of nothing. Warnings that match @others
        (sources of other projects) do not count."""
        def run():
            log = self.run.path(re.sub(r"[^A-Za-z0-9.]+", "-", name) + ".log")
            code = self.run.call(command, log, env)
            with open(log, errors="replace") as text:
                lines = text.read().splitlines()
            bad = [line for line in lines if re.search("warning|error:", line, re.I) and
                   not (others and re.search(others, line))]
            if code:
                bad = lines[-40:] + ["exit status %d" % code]
            self.run.tell(name, suite, [(name, bad)])
            return code == 0
        self.add(name, run, needs, seconds).is_build = True

    def exports(self, name, suite, folder):
        """Export the recordings of tests, FOLDER/recordings/TEST/*.tbuf, and check the results. A
        recording with an error stays there."""
        kept = os.path.join(folder, "recordings")
        file = kept + ".ktap"
        most = [] if self.run.args.full else ["--most", str(JUDGED),
                                                    "--events", str(JUDGED_EVENTS)]
        code = self.run.call(["selftests/unit/export/recordings_check.py", *most, "build/user/tracebuf",
                              kept], file)
        self.run.results.count(name, suite + ": exports of recordings", file, code, kept)

    def judge(self, name, label, test, folder):
        """Run the second half of a test on the files that the first half left (see ktap.sh)."""
        source = "".join(glob.glob("selftests/vm/*/%s.sh" % test))
        if not source or not re.search(r"^\s*judge ", open(source).read(), re.M):
            return
        left = os.path.join(folder, "left", test)
        os.makedirs(left, exist_ok=True)
        user = os.path.abspath("build/user")
        file = os.path.join(folder, test + "-judged.ktap")
        code = self.run.call(["sh", os.path.abspath(source)], file, {
            "TRACEBUF_JUDGE": os.path.abspath(left), "TRACEBUF_USER": user,
            "TRACEBUF_SELFTESTS": os.path.abspath("build/selftests"),
            "PATH": user + ":" + os.environ["PATH"]})
        suite = self.run.results.count(
            name, "%s: %s, on the host" % (label, re.sub("^test_", "", test)), file, code, left)
        if not suite.failed:
            shutil.rmtree(left)

    def ktap(self, name, suite, command, needs=(), seconds=60, env=None, evidence=None,
             recordings=False):
        """A command whose standard output is KTAP.

        @recordings: the command leaves recordings in $TRACEBUF_RECORDINGS, below @evidence.
        """
        def run():
            file = self.run.path(name.replace(" ", "-") + ".ktap")
            kept = os.path.join(evidence, "recordings", name) if recordings else None
            more = dict(env or {})
            if kept:
                os.makedirs(kept, exist_ok=True)
                more["TRACEBUF_RECORDINGS"] = os.path.abspath(kept)
            code = self.run.call(command, file, more, errors=file + ".stderr")
            with open(file, "a") as out, open(file + ".stderr", errors="replace") as errors:
                out.write(errors.read())
            self.run.results.count(name, suite, file, code, evidence)
            if kept:
                self.exports(name, suite, evidence)
            return True
        self.add(name, run, needs, seconds)

    def guest(self, name, kernel, tests, options=(), env=(), deadline=900, needs=(), seconds=60,
              leaks=True, label=None, full=None):
        """A guest runs selftests/vm/lib/run.sh TEST... and reports one suite for each test."""
        folder = self.run.path(name)
        label = label or kernel

        def run():
            # with --resume, it has the results of another run
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            status = self.run.call_guest(
                ["scripts/vm", "-o", folder, "-k", kernel, "-t", str(deadline), *options, "--",
                 "env", *env, "selftests/vm/lib/run.sh", "-r", *tests],
                os.path.join(folder, "output"), label)
            for test in tests:
                self.run.results.count(name, "%s: %s" % (label, re.sub("^test_", "", test)),
                                       os.path.join(folder, test + ".ktap"))
                self.judge(name, label, test, folder)
            self.exports(name, name, folder)
            bad = []
            # exit status 1: tests failed, and results.count() counted them
            if status not in (0, 1):
                with open(os.path.join(folder, "output"), errors="replace") as text:
                    bad = text.read().splitlines()[-60:]
                bad.append("scripts/vm: exit status %d" % status)
            self.run.tell(name, "%s: kernel log" % label,
                          [("kernel log and unloading: " + " ".join(tests), bad)], folder)
            return True
        job = self.add(name, run, needs, seconds, full)
        job.tests = [name, *tests]      # scripts/check accepts each of these names
        job.leaks = (label, os.path.join(folder, "leaks.ktap")) if leaks else None

    # ---- what there is ---------------------------------------------------

    def builds(self, kernels, foreign, full):
        run, jobs = self.run, "-j%d" % self.cores
        kselftest = "KSELFTEST=" + run.linux_source + "/tools/testing/selftests"
        self.build("tools", "tools", ["make", "tools", jobs], seconds=60, env=run.ccache)
        self.build("samples", "tools", ["make", "-C", "userspace", "samples", jobs],
                   ["tools"], 10, run.ccache)
        self.build("guest tests", "tools", ["make", "-C", "selftests/vm", jobs, kselftest],
                   ["tools"], 20, run.ccache)
        for arch in foreign:
            self.build("tools for " + arch, "tools", run.shell(
                'make_tools %s %s && make_guest_tests %s %s' % (arch, jobs, arch, jobs)),
                ["tools"], 200)
        for kernel in kernels:
            make = ["KDIR=" + run.headers(kernel), "RELEASE=" + run.release(kernel)]
            flags = "KFLAGS=W=1 "
            # Sparse reads each source once. In the default run it reads tracebuf.ko as "make
            # torture" builds it; with --full it reads the units of tracebuf_events.ko too.
            sparse = "C=1 " if kernel == ("6.12" if "6.12" in kernels else kernels[-1]) else ""
            everything = full or kernel != SHORT_KERNEL or not self.short or \
                self.only is not None
            which = ["HEADERS=" + ("all" if everything else "core")]
            self.build("module for " + kernel, "module",
                       ["make", "guest-module", *make, *which,
                        flags + (sparse if full else "") + jobs], seconds=150, env=run.ccache,
                       # with KASAN or KCSAN some headers of the kernel cause warnings
                       others=looks_for_errors(kernel) and "include/trace/events/")
            self.build("torture modules for " + kernel, "module",
                       ["make", "torture", *make, flags + sparse + jobs], seconds=60,
                       env=run.ccache)
            # This job makes the module again, with the same results.
            self.build("samples for " + kernel, "module",
                       ["make", "samples", *make, *which, flags + sparse + jobs],
                       ["module for " + kernel], 20, run.ccache)

    def user_space(self, kernels, full):
        run, jobs = self.run, "-j%d" % self.cores
        self.build("unit tests", "tools", ["make", "-C", "userspace", "tests", jobs], ["tools"],
                   120, run.ccache)
        for part in "library", "formats", "report", "query", "pack", "top", "page":
            self.ktap("unit " + part, "unit: " + part,
                      ["make", "-s", "-C", "userspace", "test-" + part], ["unit tests"], 100,
                      {"TRACEBUF_FULL": "1", "ASAN_OPTIONS": "detect_leaks=1"} if full else None)
        self.ktap("unit history", "unit: histories",
                  ["make", "-s", "-C", "userspace", "test-history",
                   "HISTORIES=" + ("1500" if full else "")], ["unit tests"], 20)
        anew = {"TRACEBUF_ANEW": "1"} if full else {}
        ring = ["make", "-s", "-f", "selftests/unit/ring/ring.mk"]
        self.ktap("unit ring", "unit: ring",
                  [*ring, "check-ring-tests", "RING_SECONDS=" + ("60" if full else ""),
                   "RING_OLD=" + ("1" if full else "")], seconds=120,
                  env={**run.ccache, **anew})
        self.ktap("unit ring mutants", "unit: ring mutants", [*ring, "check-ring-mutants"],
                  seconds=120, env=anew)
        self.ktap("unit filter", "unit: filters",
                  ["make", "-s", "-f", "selftests/unit/filter/filter.mk", "check-filter",
                   "FILTER_RUNS=" + ("20000000" if full else "")], seconds=60)
        self.ktap("unit mutants", "unit: mutants of filters and writers",
                  ["make", "-s", "-f", "selftests/unit/filter/filter.mk", "check-mutants"],
                  ["unit tests"], 130, env=anew)
        self.ktap("docs", "docs", ["selftests/unit/docs/test_docs.py"], seconds=5)
        if "6.12" in kernels:
            self.ktap("bench", "benchmarks", ["scripts/bench", "--check"],
                      ["tools"] + ["module for " + kernel for kernel in kernels], 180,
                      {"TRACEBUF_VM_NOBUILD": "1"})
        if full:
            self.ktap("fuzz", "unit: fuzzing traces",
                      ["make", "-s", "-C", "userspace", "check-fuzz",
                       "FUZZ_SECONDS=" + os.environ.get("FUZZ_SECONDS", "300")],
                      ["unit tests"], 400)
        if "6.12" in kernels:
            self.ktap("abidiff", "ABI of the library", ["selftests/build/test_abidiff.sh"],
                      ["tools"], 60)
            self.ktap("headers", "headers of tracepoints", ["selftests/build/test_headers.sh"],
                      ["module for 6.12"], 60)
        self.add("checkpatch", lambda: self.checkpatch(full), (), 30)
        self.add("tables", self.tables, (), 1)
        for kernel in [name for name in kernels if self.run.arch(name) == "amd64"][-1:]:
            self.add("rooms", lambda: self.rooms(kernel), ["tools", "module for " + kernel], 2)

    def rooms(self, kernel):
        """Check that no file in module/, userspace/ and selftests/ includes or calls a higher
        layer."""
        objects = {"module": os.path.join("build", self.run.release(kernel), "module"),
                   "userspace": "build/user/obj"}
        self.run.tell("rooms", "rooms", [
            (name + ": no include points up", house.includes())
            for name, house in rooms.houses().items()] + [
            (name + ": no call points up", rooms.houses()[name].calls(folder))
            for name, folder in objects.items()])
        return True

    def tables(self):
        """affected.py has tests for each file, each pattern there has a file, and each name in a
        tier or a row is that of a test; and the tests of scripts/check pass."""
        # outside of a repository, git lists no files
        files = (git(".", "ls-files") or b"").decode().splitlines()
        names = [job.name for job in self.list] + glob.glob("selftests/vm/*/test_*.*")
        names = {re.sub(r"^.*/|\.(c|sh)$", "", name) for name in names}
        # names that only some runs have
        names |= {"6.12-arm64 erratum", "packages"}
        patterns = FULL + SHORT + [name for tests, _ in affected.TABLE
                                   for test in tests for name in affected.room(test) or [test]]
        patterns += ["unit " + suite for suite in affected.SUITES]
        self.run.tell("tables", "tables of tests", [
            ("each file has a rule or a row in affected.py",
             [file for file in files if affected.tests_of(file) is None]),
            ("each pattern in affected.py has a file",
             [pattern for _, row in affected.TABLE for pattern in row.split()
              if files and not fnmatch.filter(files, pattern)]),
            ("each name in a table is that of a test",
             sorted({name for name in patterns
                     if not any(fnmatch.fnmatch(each, name) for each in names)}))])
        file = self.run.path("test_check.ktap")
        code = self.run.call(["selftests/unit/check/test_check.py"], file)
        self.run.results.count("tables", "scripts/check", file, code)
        return True

    def checkpatch(self, anew):
        """Check the sources with checkpatch. A file without complaints is not checked again while
        the file and checkpatch stay the same, unless @anew."""
        folder = os.path.join(self.run.linux_source, "scripts")
        checkpatch = os.path.join(folder, "checkpatch.pl")
        # checkpatch takes words in CamelCase from the kernel's headers
        read = sorted(path for pattern in (folder + "/*", "include/**/*.h")
                      for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
        program = known.key_of(*map(known.content, read))
        results = []
        for pattern in CHECKPATCH:
            for file in sorted(glob.glob(pattern)):
                ignore = []
                if file.startswith(("samples/user/", "samples/read/")):
                    ignore = ["--ignore", "PREFER_KERNEL_TYPES,CAMELCASE"]
                elif re.match(r"module/events/(macros/.*|extra/.*|types/.*|unit\.h)$"
                              r"|include/linux/tracebuf_macros\.h$", file):
                    ignore = ["--ignore", MACROS]
                words = ["--no-tree", "--strict", "--terse", "--show-types", "--no-summary",
                         *ignore, "-f", file]
                key = known.key_of(program, known.content(file), *words)
                lines = []
                if anew or known.lookup(key) is None:
                    said = subprocess.run(["perl", checkpatch, *words], stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, check=False)
                    lines = said.stdout.decode(errors="replace").splitlines()
                    if said.returncode == 0 and not lines:
                        known.keep(key, b"")
                results.append(("checkpatch --strict " + file, lines))
        self.run.tell("checkpatch", "checkpatch", results)
        return True

    def guests(self, kernels, native, full, alone):
        """The tests in selftests/vm on all kernels, in many guests: a guest that hangs loses only
        its own tests.

        @alone: give each test a guest of its own.
        """
        quick = [kernel for kernel in kernels if not looks_for_errors(kernel)]
        one = ([kernel for kernel in quick if kernel in native] or kernels)[-1:]
        env, times = [], 1
        if full:
            env = ["TRACEBUF_FULL=1",
                   "TRACEBUF_SECONDS=" + os.environ.get("TRACEBUF_SECONDS", "180")]
            times = 4
        for kernel in kernels:
            slow = times * (4 if looks_for_errors(kernel) else 1)
            for group, later in self.groups(kernel, alone):
                seconds = sum(self.seconds(kernel, test) for test in group)
                more = " and %d more" % (len(group) - 1) if len(group) > 1 else ""
                self.guest("%s %s%s" % (kernel, group[0], more), kernel, group,
                           self.counting(kernel), env, slow * max(1200, 10 * seconds),
                           self.guest_needs(kernel, group), BOOT_SECONDS + seconds, full=later)
            if kernel not in quick:
                continue
            needs = self.guest_needs(kernel)
            self.guest(kernel + " lockdown", kernel, ["lockdown"], (), (), 600, needs, 15,
                       leaks=False)
            # in native guests, a firmware reserves a part of the memory
            bios = ["-q", "-bios bios-256k.bin"] if kernel in native else []
            self.guest(kernel + " region", kernel, ["region"],
                       ["-m", "512", "-A", "memmap=16M$0x10000000", *bios], (), 600, needs, 15,
                       leaks=False)
            self.guest(kernel + " isolated", kernel, ["test_quiet"],
                       ["-c", "4", "-A", "isolcpus=3 nohz_full=3"], (), 900, needs, 30,
                       leaks=False, label=kernel + " isolated")
            self.guest(kernel + " numa", kernel, ["numa"], ["-A", "numa=on", "-q", NODES], (), 900,
                       needs, 15, leaks=False)
            self.guest(kernel + " poison", kernel, ["test_secrets"],
                       ["-A", "page_poison=1 slub_debug=P"], (), 900, needs, 30, leaks=False,
                       label=kernel + " poison")
            if self.run.arch(kernel) == "arm64":
                tree = self.run.path(kernel + ".dtb")
                self.build("device tree for " + kernel, "tools",
                           ["scripts/lib/timer-erratum.sh", tree], seconds=1)
                self.guest(kernel + " erratum", kernel, ["erratum"], ["-q", "-dtb " + tree], (),
                           600, self.guest_needs(kernel, ["erratum"]) +
                           ["device tree for " + kernel], 30, leaks=False)
            if kernel in native and (full or kernel in one):
                self.guest(kernel + " icount", kernel, ["test_context"], ["-i"],
                           ["TRACEBUF_ICOUNT=1"], 1800, needs, 60, leaks=False,
                           label=kernel + " icount")

    def guest_needs(self, kernel, tests=()):
        """The builds that a guest needs, as the sources of its tests name them."""
        needs = ["module for " + kernel, "guest tests"]
        text = ""
        for test in tests:
            for path in glob.glob("selftests/vm/*/%s.*" % test):
                with open(path) as source:
                    text += source.read()
        for name, need in ("-torture", "torture modules for " + kernel), \
                ("-samples", "samples for " + kernel), ("samples/", "samples"):
            if name in text:
                needs.append(need)
        if self.run.arch(kernel) != "amd64":
            needs.append("tools for " + self.run.arch(kernel))
        return needs

    def counting(self, kernel):
        """Options for a guest that counts instructions, if it can: its clock then does not depend
        on the load of the host."""
        if self.run.arch(kernel) != "amd64" or kernel == "6.1" or looks_for_errors(kernel):
            return ()   # with -icount, 6.1 hangs when it starts a second processor
        return ("-I", "3")

    def seconds(self, kernel, test):
        """Seconds that a test takes in a guest, without the boot."""
        times = self.run.times
        for key in "%s %s" % (kernel, test), "6.12 " + test:
            if key in times:
                return times[key]
        return UNKNOWN_SECONDS

    def groups(self, kernel, alone):
        """Return the groups of tests that share a guest, each with: does only --full run it? A long
        test, or with @alone each test, has its own guest. Tests in shell load the module; tests in
        C find it loaded."""
        kinds = {}
        paths = glob.glob("selftests/vm/*/test_*.sh") + glob.glob("selftests/vm/*/test_*.c")
        for path in sorted(paths):
            test, suffix = os.path.splitext(os.path.basename(path))
            if self.only is not None and not matches(test, self.only):
                continue
            if kernel == SHORT_KERNEL and self.short:
                later = test not in SHORT
            else:
                later = self.is_full(test, BOOT_SECONDS + self.seconds(kernel, test))
            kinds.setdefault((later, suffix), []).append(test)
        # if only some tests run, use smaller guests, so that all processors are in use to the end
        most = GUEST_SECONDS
        if self.only is not None:
            total = sum(self.seconds(kernel, test) for tests in kinds.values() for test in tests)
            most = min(most, max(total / self.cores, GUEST_SECONDS / 4))
        groups = []
        for (later, _), tests in sorted(kinds.items()):
            at, length = [], 0
            for test in sorted(tests, key=lambda test: -self.seconds(kernel, test)):
                seconds = self.seconds(kernel, test)
                if at and (alone or length + seconds > most):
                    groups.append((sorted(at), later))
                    at, length = [], 0
                at.append(test)
                length += seconds
            groups.append((sorted(at), later))
        return groups

    def machines(self, native, full):
        """Guests with torture, crashes, panics and reboots, on this machine's architecture only."""
        crash = [kernel for kernel in native if not looks_for_errors(kernel)]
        # these tests are known to work on Debian's own kernels only
        some = [kernel for kernel in crash if kernel in STOCK]

        def ktap(name, suite, script, names, *words, seconds=100, extra=()):
            folder = self.run.path(name.replace(" ", "-"))
            kernels = [word for kernel in names for word in ("-k", kernel)]
            self.ktap(name, suite, [script, *kernels, "-o", folder, *words],
                      ["torture modules for " + kernel for kernel in names] +
                      ["guest tests", *extra], seconds, {"TRACEBUF_VM_NOBUILD": "1"}, folder,
                      recordings=True)

        if native:
            ktap("torture", "torture", "selftests/torture/run.sh", native if full else native[-1:],
                 *(["--full"] if full else []), seconds=180, extra=["torture programs"])
            # on KASAN if it is there: KASAN checks each access of the kernel
            for kernel in [name for name in native if name.endswith("-kasan")] or native[-1:]:
                ktap("flips " + kernel, kernel + ": flips", "selftests/torture/run.sh", [kernel],
                     "--flips", "500" if full else "150", seconds=90, extra=["torture programs"])
            self.build("torture programs", "tools", ["make", "-C", "selftests/torture"], ["tools"],
                       5)
        if not full:
            for kernel in crash[-1:]:
                ktap("short crashes " + kernel, kernel + ": crashes", "selftests/recover/run.sh",
                     [kernel], "sysrq-kdump", "spin-elf", seconds=20)
                ktap("short panics " + kernel, kernel + ": panics", "selftests/recover/panic.sh",
                     [kernel], "nmi", seconds=25)
        for kernel in crash:
            ktap("crashes " + kernel, kernel + ": crashes", "selftests/recover/run.sh", [kernel],
                 "-n", "5" if full else "1")
            ktap("panics " + kernel, kernel + ": panics", "selftests/recover/panic.sh", [kernel])
        if crash:
            ktap("reboots", "across reboots", "selftests/recover/reboot.sh", crash[-1:], seconds=40)
        for kernel in some:
            ktap("suspend " + kernel, kernel + ": suspend", "selftests/recover/suspend.sh",
                 [kernel], seconds=120, extra=["module for " + kernel])
            ktap("kdump " + kernel, kernel + ": kdump", "selftests/recover/kdump.sh", [kernel],
                 seconds=60)
        if full:
            self.ktap("packages", "packages", ["selftests/package/run.sh", "--full", "-o",
                                               self.run.path("package")], ["tools"], 1200)

    def soak(self, kernels, minutes, seed):
        """Run all loads at once for @minutes, instead of the tests."""
        for kernel in kernels:
            self.soak_guest(kernel, minutes, seed)

    def soak_guest(self, kernel, minutes, seed):
        name = kernel + " soak"
        folder = self.run.path(name)

        def run():
            os.makedirs(folder, exist_ok=True)
            status = self.run.call_guest(
                ["scripts/vm", "-o", folder, "-k", kernel, "-t", str(minutes * 60 + 1800), "--",
                 "sh", "-c", "sh selftests/vm/lib/soak.sh %d %d >/out/soak.ktap" % (minutes, seed)],
                os.path.join(folder, "output"), kernel)
            self.run.results.count(name, name, os.path.join(folder, "soak.ktap"), status)
            self.run.results.count(name, kernel + ": leaks", os.path.join(folder, "leaks.ktap"))
            return True
        self.add(name, run, self.guest_needs(kernel, ["soak"]), minutes * 60)
