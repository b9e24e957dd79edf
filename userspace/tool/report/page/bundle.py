#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Join HTML, style sheets and modules into one page, as a C source that is linked into the tool.

  bundle.py PAGE.html OUTPUT.c

In PAGE.html, <!--style FILE...--> and <!--script FILE...--> are replaced by the contents of these files,
and <!--policy--> by the security policy. The tool inserts its data at <!--report--> and <!--timeline-->.

All modules become one: imports are removed, and exported names are global. So no two modules may have
the same name at the top level, and a module comes after those that it uses while it is loaded.

The policy allows only these scripts and styles, by their hashes: no network, and no script that a name in
a trace contains.
"""
import base64
import hashlib
import pathlib
import re
import sys

TOP = re.compile(r'^(?:async )?(?:function\*?|class|const|let|var) +(\w+)', re.M)


def read(page, names, comment):
    """Return the texts of the files; files in vendor/ get their licence as a comment"""
    parts = []
    for name in names.split():
        text = (page.parent / name).read_text()
        licence = (page.parent / name.replace('.iife.min.js', '.LICENSE'))
        if name.startswith('vendor/') and licence.suffix == '.LICENSE':
            text = comment % licence.read_text().strip() + '\n' + text
        parts.append(text)
    return parts


def module(text, seen, name):
    """Return a module without import and export"""
    text = re.sub(r"^import\s[^;]*?from\s+'[^']*';\n", '', text, flags=re.M)
    text = re.sub(r'^export (?=(?:async )?(?:function|class|const|let)\b)', '', text, flags=re.M)
    wrong = re.search(r'^(?:im|ex)port\b.*', text, re.M)
    if wrong:
        sys.exit(f'{name}: bundle.py does not know: {wrong.group()}')
    for top in TOP.findall(text):
        if top in seen:
            sys.exit(f'{name}: {top} is in {seen[top]} already')
        seen[top] = name
    return text


def allowed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def bundle(path):
    """Return the page in three parts, between which the tool writes its data"""
    page = path.read_text()
    styles, scripts = [], []

    def style(match):
        styles.append(''.join(read(path, match.group(1), '/*\n%s\n*/')))
        return '<style>' + styles[-1] + '</style>'

    def script(match):
        seen = {}
        names = match.group(1).split()
        text = '\n'.join(t if n.startswith('vendor/') else module(t, seen, n)
                         for n, t in zip(names, read(path, match.group(1), '/*\n%s\n*/')))
        if '</script' in text.lower():
            sys.exit('a script that ends itself')
        scripts.append(text)
        return '<script type="module">' + text + '</script>'

    page = re.sub(r'<!--style (.*?)-->', style, page, flags=re.S)
    page = re.sub(r'<!--script (.*?)-->', script, page, flags=re.S)
    policy = ("default-src 'none'; base-uri 'none'; form-action 'none'; "
              f"script-src {' '.join(map(allowed, scripts))}; "
              f"style-src {' '.join(map(allowed, styles))}")
    page = page.replace('<!--policy-->', policy)
    parts = re.split(r'<!--(?:report|timeline)-->', page)
    if len(parts) != 3:
        sys.exit(f'{path}: wants <!--report--> and <!--timeline-->, once each')
    return parts


def main():
    path, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = ['/* made of userspace/tool/report/page/ by bundle.py */', '#include "tool/report/page/page.h"']
    parts = [part.encode() for part in bundle(path)]
    for number, part in enumerate(parts):
        lines.append(f'static const unsigned char part{number}[] = {{')
        lines += [','.join(map(str, part[i:i + 32])) + ',' for i in range(0, len(part), 32)]
        lines.append('};')
    lines.append('const struct page_part page_parts[3] = {')
    lines += [f'\t{{ part{n}, sizeof(part{n}) }},' for n in range(3)]
    lines.append('};\n')
    output.write_text('\n'.join(lines))


main()
