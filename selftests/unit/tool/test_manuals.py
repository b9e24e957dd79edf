#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every command, option and library symbol has a manual page, and shells complete them. If this
fails, a user finds no description of an option, or reads of one that the tool refuses.

    test_manuals.py TOOL MAN COMPLETIONS      MAN and COMPLETIONS: what "make man" has made

The tool's help, its man pages and the completions must have the same commands and options; the tool
reads its options from the help (test_options.py).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TREE, "scripts/lib"))
import tool_help  # noqa: E402

TOOL, MAN, COMPLETIONS = sys.argv[1:]
COMMANDS = tool_help.commands(TOOL)
count = failed = 0


def check(name, wrong):
    global count, failed
    count += 1
    for line in wrong:
        print(f"# {line}")
    print(f"{'not ok' if wrong else 'ok'} {count} - {name}")
    failed |= bool(wrong)


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}")


def source(page):
    with open(os.path.join(MAN, page), encoding="utf-8") as file:
        return file.read()


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=120, **more)


def told(name):
    return tool_help.Help(tool_help.full(TOOL, name)).names()


def pages_of_commands():
    there = {page[len("tracebuf-"):-2] for page in os.listdir(MAN)
             if page.startswith("tracebuf-") and page.endswith(".1")}
    names = {name for name, _ in COMMANDS}
    check("every command has a page, and every page a command",
          [f"tracebuf {name}: no page" for name in names - there] +
          [f"tracebuf-{name}(1): no command" for name in there - names] +
          ([] if len(names) >= 17 else [f"only {len(names)} commands found in tracebuf -h"]))
    for name in sorted(names & there):
        text = source(f"tracebuf-{name}.1")
        begin = text.index(".SH OPTIONS")
        # options as terms of the list, not anywhere in the text
        terms = re.findall(r"^\\fB-.*$", text[begin:], re.M)
        has = set(re.findall(r"--[a-z][a-z0-9-]*", " ".join(re.sub(r"\\-", "-", term) for term in terms)))
        has = {option for option in has if option.startswith("--")}
        check(f"options in tracebuf-{name}(1)",
              [f"not in the page: {option}" for option in sorted(told(name) - has)] +
              [f"not an option: {option}" for option in sorted(has - told(name))])


def pages_of_symbols():
    with open(os.path.join(TREE, "userspace/lib/libtracebuf.map"), encoding="utf-8") as file:
        symbols = set(re.findall(r"\b(tb_\w+);", file.read()))
    wrong = [] if len(symbols) > 150 else [f"only {len(symbols)} symbols found"]
    for symbol in sorted(symbols):
        path = os.path.join(MAN, symbol + ".3")
        if not os.path.exists(path):
            wrong.append(f"{symbol}: no page")
            continue
        target = re.fullmatch(r"\.so man3/(\S+\.3)\n", source(symbol + ".3"))
        if not target or not os.path.exists(os.path.join(MAN, target.group(1))):
            wrong.append(f"{symbol}(3) leads nowhere")
        elif not re.search(rf"\b{symbol}\b", source(target.group(1)).replace("\\", "")):
            wrong.append(f"{symbol} is not in {target.group(1)}")
    check("every symbol of the library has a page", wrong)


def pages_are_sound():
    wrong = []
    for page in ("tracebuf.1", "tracebuf.4", "tracebuf.5", "libtracebuf.3"):
        if not os.path.exists(os.path.join(MAN, page)):
            wrong.append(f"no {page}")
    if shutil.which("man"):
        for page in sorted(os.listdir(MAN)):
            if page.startswith(".") or source(page).startswith(".so"):
                continue
            said = run(["man", "--warnings=w", "-E", "UTF-8", "-l", os.path.join(MAN, page)],
                       env={**os.environ, "MANWIDTH": "100", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
            wrong += [f"{page}: {line}" for line in said.stdout.split("\n") if "warning" in line and page in line]
            # no markup or escapes of scdoc may be left
            if re.search(r"^```|\s@\w+@$|\\[_*]", said.stdout, re.M):
                wrong.append(f"{page}: markup is left")
    # references to other pages
    for page in os.listdir(MAN):
        if not page.endswith((".1", ".3", ".4", ".5")):
            continue
        for name, section in re.findall(r"\\fB((?:lib)?tracebuf[a-z-]*)\\fR\((\d)\)", source(page).replace("\\-", "-")):
            if not os.path.exists(os.path.join(MAN, f"{name}.{section}")):
                wrong.append(f"{page}: see {name}({section}), which there is not")
    check("pages are sound", wrong)


def bash_completes(line, directory):
    """The words that bash offers for the last word of line."""
    # bash gives "=" as a word of its own, and then no empty one
    words = re.sub(" = $", " =", line.replace("=", " = ")).split(" ")
    script = f"""
source {COMPLETIONS}/tracebuf.bash
COMP_WORDS=({' '.join("'" + word + "'" for word in words)})
COMP_CWORD={len(words) - 1} COMP_LINE='{line}' COMP_POINT={len(line)}
_tracebuf 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    env = {**os.environ, "PATH": directory + ":" + os.environ["PATH"]}
    return set(run(["bash", "--norc", "-c", script], env=env).stdout.split())


def fish_completes(line, directory):
    env = {**os.environ, "PATH": directory + ":" + os.environ["PATH"], "HOME": directory}
    said = run(["fish", "--no-config", "-c", f"source {COMPLETIONS}/tracebuf.fish; complete -C '{line}'"], env=env)
    return {entry.split("\t")[0] for entry in said.stdout.split("\n") if entry}


# an interactive zsh in a terminal of its own: what it hands to compadd is what it offers
ZSH_SHELL = """
autoload -Uz compinit
compinit -C -d $SETUP.dump
compadd()
{
	local -a hits
	[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] || {
		builtin compadd -O hits "$@"
		print -l -- $hits >>$OFFERED
	}
	builtin compadd "$@"
}
comppostfuncs=(offered)
offered() { print .end >>$OFFERED; }
"""
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= TERM=dumb; stty -echo; OFFERED=$OFFERED; fpath=($FOLDER \\$fpath); source $SETUP"
zpty -w shell "$LINE"$'\\t'
for ((i = 0; i < 1200; i++)); do
	zpty -r -t shell output
	[[ -s $OFFERED && $(tail -n 1 $OFFERED) == .end ]] && break
	sleep 0.05
done
zpty -d shell
"""


def zsh_completes(line, directory):
    offered = os.path.join(directory, "offered")
    setup = os.path.join(directory, "setup")
    with open(setup, "w", encoding="utf-8") as file:
        file.write(ZSH_SHELL)
    if os.path.exists(offered):
        os.unlink(offered)
    said = run(["zsh", "-f", "-c", ZSH],
               env={**os.environ, "PATH": directory + ":" + os.environ["PATH"], "HOME": directory,
                    "OFFERED": offered, "FOLDER": COMPLETIONS, "SETUP": setup, "LINE": line})
    if not os.path.exists(offered):
        return {said.stdout}
    with open(offered, encoding="utf-8") as file:
        return set(file.read().split()) - {".end"}


def completion(shell, completes, by_name=()):
    if not shutil.which(shell):
        skip(f"completion in {shell}", f"there is no {shell}")
        return
    with tempfile.TemporaryDirectory() as directory:
        # in place of the tool: a device with two events and two providers, and with names that
        # would leave a file if a shell expanded them
        fake = os.path.join(directory, "tracebuf")
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncase \"$*\" in\n"
                       "list) printf '*F sched:sched_switch\\n   filelock:fcntl_setlk\\n'\n"
                       f"echo '   a:$(touch${{IFS}}{directory}/ran)' ;;\n"
                       "'provider list') printf '   ID NAME\\n    0 kernel\\n    1 crash\\n'\n"
                       f"echo '    2 b$(touch${{IFS}}{directory}/ran)' ;;\nesac\n")
        os.chmod(fake, 0o755)
        wrong = []
        names = {name for name, _ in COMMANDS}
        offered = completes("tracebuf ", directory)
        wrong += [f"command {name} is not offered" for name in names - offered]
        for name in sorted(names):
            offered = {word for word in completes(f"tracebuf {name} --", directory) if word.startswith("--")}
            wrong += [f"tracebuf {name}: {option} is not offered" for option in told(name) - offered]
            wrong += [f"tracebuf {name}: {option} is offered, and is none" for option in offered - told(name)]
        for line, wanted in (("tracebuf record -e ", {"sched:sched_switch", "filelock:fcntl_setlk", "irq"}),
                             ("tracebuf enable ", {"sched:sched_switch"}),
                             ("tracebuf stop -p ", {"kernel", "crash"}),
                             ("tracebuf start -m ", {"circular", "oneshot", "streaming"}),
                             ("tracebuf export --format ", {"perfetto", "ctf", "sqlite"}),
                             ("tracebuf provider ", {"create", "destroy"}),
                             ("tracebuf record -e sched:sched_sw", {"sched:sched_switch"}),
                             *by_name):
            if not wanted <= completes(line, directory):
                wrong.append(f"'{line}': {wanted} wanted, {completes(line, directory)} offered")
        if os.path.exists(os.path.join(directory, "ran")):
            wrong.append("a name of an event or a provider was run as a command")
        check(f"completion in {shell}", wrong)


print("TAP version 14")
pages_of_commands()
pages_of_symbols()
pages_are_sound()
completion("bash", bash_completes, [("tracebuf record -e irq,sched_sw", {"irq,sched_switch"}),
                                    ("tracebuf start --mode=", {"circular", "oneshot"}),
                                    ("tracebuf start --mode=ci", {"circular"}),
                                    ("tracebuf stop --provider=", {"kernel", "crash"})])
completion("fish", fish_completes)
completion("zsh", zsh_completes, [("tracebuf record -e irq,sched:sched_sw", {"sched:sched_switch"})])
print(f"1..{count}")
sys.exit(failed)
