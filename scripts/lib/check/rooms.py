# SPDX-License-Identifier: GPL-2.0-only
"""rooms.py - the rooms of module/, and what points up: an include, or a call as the objects name it."""
import glob
import os
import re
import subprocess

# from the ground up, as in docs/architecture.md
FLOORS = [["machine"], ["ring"], ["provider"], ["probe"], ["events"], ["select", "programs"],
          ["recording"], ["reader", "crash"], ["devices"], [""]]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# Upward includes that stay, for types alone: a provider contains its trigger and its channels.
TYPES = {("provider", "probe/trigger.h"), ("provider", "programs/channels.h")}


def points_up(user, used):
    return used in FLOOR and used != user and FLOOR[used] >= FLOOR[user]


def includes(module):
    """Upward includes among the sources in the folder @module."""
    found = []
    for path in sorted(glob.glob(module + "/*/*.[ch]")):
        room = os.path.basename(os.path.dirname(path))
        with open(path) as source:
            names = re.findall(r'^#include "(?:\.\./)*(\w+/[\w.]+)"', source.read(), re.M)
        found += ["%s includes %s" % (path, name) for name in names
                  if points_up(room, os.path.dirname(name)) and (room, name) not in TYPES]
    return found


def calls(module, objects):
    """Upward references among @objects, but those that ring/hooks.h declares."""
    with open(module + "/ring/hooks.h") as source:
        hooks = set(re.findall(r"\b(tb_\w+)\(", source.read()))
    defined, used = {}, []
    # of the sources there are: older objects may be left in the folder
    for source in sorted(glob.glob(module + "/*.c") + glob.glob(module + "/*/*.c")):
        room = os.path.relpath(os.path.dirname(source), module).strip(".")
        path = os.path.join(objects, os.path.relpath(source, module)[:-1] + "o")
        if not os.path.exists(path):
            continue
        said = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True)
        for kind, name in re.findall(r"^[0-9a-f ]{16} (\w) (\w+)$", said.stdout.decode(), re.M):
            if kind == "U":
                used.append((room, path, name))
            elif kind in "TDBRVW":
                defined[name] = room
    if not defined:
        return ["no objects in " + objects]
    return ["%s uses %s of %s/" % (path, name, defined[name]) for room, path, name in used
            if room in FLOOR and points_up(room, defined.get(name)) and name not in hooks]
