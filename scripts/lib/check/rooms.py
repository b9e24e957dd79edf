# SPDX-License-Identifier: GPL-2.0-only
"""rooms.py - finds upward includes and calls between the rooms of module/, userspace/ and
selftests/; it reads the calls from the objects."""
import glob
import os
import re
import subprocess


class House:
    """A folder with rooms.

    @floors: lists of rooms, lowest first; "" is the folder itself
    @types: permitted upward includes, (room, header), which are for types only
    @hooks: a header with functions that higher rooms define
    """

    def __init__(self, folder, floors, types=(), hooks=None):
        self.folder, self.types = folder, types
        self.floor = {room: number for number, rooms in enumerate(floors) for room in rooms}
        self.hooks = set()
        if hooks:
            with open(os.path.join(folder, hooks)) as source:
                self.hooks = set(re.findall(r"\b(tb_\w+)\(", source.read()))

    def room(self, path):
        """Return the room of a path below the folder, or None if it has no room."""
        room = os.path.dirname(path)
        while room and room not in self.floor:
            room = os.path.dirname(room)
        return room if room in self.floor else None

    def points_up(self, user, used):
        return None not in (user, used) and used != user and self.floor[used] >= self.floor[user]

    def sources(self, suffixes):
        return sorted(path for path in glob.glob(self.folder + "/**/*", recursive=True)
                      if path.endswith(suffixes))

    def find(self, path, name, headers):
        """Return the path, below the folder, of a file that @path includes by @name; None: it is
        elsewhere."""
        for full in os.path.join(os.path.dirname(path), name), os.path.join(self.folder, name), \
                headers.get(name, ""):
            if os.path.exists(full):
                below = os.path.relpath(full, self.folder)
                return None if below.startswith("..") else below
        return None

    def includes(self):
        """Return the upward includes, also those of shell scripts."""
        found = []
        # the compiler finds headers of selftests in the folders of -I, so their names differ
        headers = {os.path.basename(path): path for path in self.sources((".h",))}
        for path in self.sources((".c", ".h", ".sh")):
            room = self.room(os.path.relpath(path, self.folder))
            with open(path) as source:
                names = re.findall(r'^(?:#include "|\s*\. "\$here/)([^"]+)"', source.read(), re.M)
            for name in names:
                name = self.find(path, name, headers)
                if name and self.points_up(room, self.room(name)) and \
                        (room, name) not in self.types:
                    found.append("%s includes %s" % (path, name))
        return found

    def calls(self, objects):
        """Return the upward references among @objects, which come from the folder's sources."""
        # only for existing sources: the folder may contain older objects
        names = (os.path.relpath(source, self.folder) for source in self.sources(".c"))
        rooms = {os.path.join(objects, name[:-1] + "o"): self.room(name) for name in names}
        paths = [path for path in rooms if os.path.exists(path)]
        if not paths:
            return ["no objects in " + objects]
        said = subprocess.run(["nm", "-A", *paths], stdout=subprocess.PIPE, check=True)
        defined, used = {}, []
        for path, kind, symbol in re.findall(r"^(.*):[0-9a-f ]{16} (\w) (\w+)$",
                                             said.stdout.decode(), re.M):
            if kind == "U":
                used.append((rooms[path], path, symbol))
            elif kind in "TDBRVW":
                defined[symbol] = rooms[path]
        if not defined:
            return ["no symbols in the objects in " + objects]
        return ["%s uses %s of %s/" % (path, symbol, defined[symbol])
                for room, path, symbol in used
                if self.points_up(room, defined.get(symbol)) and symbol not in self.hooks]


def houses():
    """The houses, as docs/architecture.md shows them."""
    return {
        "module": House("module", [
            ["machine"], ["ring"], ["provider"], ["probe"], ["events"], ["select", "programs"],
            ["recording"], ["reader", "crash"], ["devices"], [""]],
            # a provider contains its trigger and its channels
            {("provider", "probe/trigger.h"), ("provider", "programs/channels.h")},
            "ring/hooks.h"),
        "userspace": House("userspace", [
            ["include"], ["lib"], ["analysis", "plugins/babeltrace2"], ["tool/command"],
            ["tool/device"], ["tool/choose"], ["tool/show"], ["tool/tables"], ["tool/export"],
            ["tool/export/fxt", "tool/export/json", "tool/export/perfetto", "tool/query",
             "tool/flame", "tool/report", "tool/recover", "tool/record", "tool/top"],
            ["tool/report/page"], ["tool/cmd"], ["tool"]]),
        # the tests of a room may use helpers, and files of their own room
        "selftests": House("selftests", [
            ["unit", "vm/lib"], ["unit/lib", "unit/ring"],
            ["unit/docs", "unit/export", "unit/filter", "unit/report", "unit/tool",
             "vm/crash", "vm/devices", "vm/events", "vm/kernel", "vm/programs", "vm/reader",
             "vm/recording", "vm/ring", "vm/select", "vm/tool"],
            ["bench", "build", "fuzz", "package", "recover", "torture"]]),
    }
