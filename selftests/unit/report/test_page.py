# SPDX-License-Identifier: GPL-2.0-only
"""
The page of "tracebuf report --html" shows what "report" and "print" say of the trace, and works
with mouse and keys. If this fails, the picture contradicts the trace, or a click does nothing. The
test drives Chromium, which takes the mouse and keys for real ones; test_page.sh runs it.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HERE = pathlib.Path(__file__).resolve().parent
TRACEBUF = os.environ.get('TRACEBUF', 'tracebuf')
FAST = os.environ.get('TRACEBUF_FAST', TRACEBUF)
PAGE_TRACE = os.environ.get('PAGE_TRACE', 'page_trace')
REPORT_TRACE = os.environ.get('REPORT_TRACE', 'report_trace')
PATIENCE = 120

count = failed = 0


class Wrong(Exception):
    pass


def want(condition, *what):
    if not condition:
        raise Wrong(' '.join(str(w) for w in what))


def same(have, wanted, what):
    want(have == wanted, f'{what}: {have!r}, not {wanted!r}')


def test(name):
    """Run the function as a test, and print the result."""
    def run(function):
        global count, failed
        count += 1
        try:
            function()
            print(f'ok {count} - {name}', flush=True)
        except Exception as error:      # any error is a failure of the test
            failed += 1
            print('\n'.join(f'# {line}' for line in f'{type(error).__name__}: {error}'.splitlines()))
            print(f'not ok {count} - {name}', flush=True)
        return function
    return run


def tool(*arguments, program=TRACEBUF):
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True,
                          text=True, errors='replace')


class Browser:
    """Chromium with one page."""

    def __init__(self, directory):
        options = Options()
        options.binary_location = subprocess.run(['which', 'chromium'], capture_output=True,
                                                 text=True).stdout.strip()
        for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                         '--disable-background-networking', f'--user-data-dir={directory}/browser'):
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        self.driver = webdriver.Chrome(service=Service('chromedriver'), options=options)
        self.driver.set_script_timeout(PATIENCE)
        self.size(1280, 800)

    def size(self, width, height):
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})

    def media(self, **features):
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
            'media': features.pop('media', ''),
            'features': [{'name': name.replace('_', '-'), 'value': value} for name, value in features.items()]})

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.js('return ' + script)
            if value:
                return value
            time.sleep(0.02)
        raise Wrong(f'not within {PATIENCE} s: {what}')

    def frames(self):
        """Wait until everything has been drawn."""
        self.driver.execute_async_script(
            'const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))')

    def load(self, path):
        self.driver.get_log('browser')
        self.driver.get_log('performance')
        self.driver.get(pathlib.Path(path).as_uri())
        self.until("document.documentElement.dataset.ready || !document.getElementById('alert').hidden", 'loading')
        same(self.js("return document.getElementById('alert').textContent"), '', 'alert')
        self.frames()

    def quiet(self):
        """The console has no message, and the page has loaded nothing but itself."""
        same([entry['message'] for entry in self.driver.get_log('browser')], [], 'console')
        asked = []
        for entry in self.driver.get_log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                asked.append(message['params']['request']['url'])
        same([url for url in asked if not url.startswith(('file:', 'data:', 'blob:'))], [], 'requests')
        want(len([url for url in asked if url.startswith('file:')]) <= 1, 'files read:', asked)

    def box(self):
        return self.js("const b = document.getElementById('lanes').getBoundingClientRect();"
                       'return [b.left, b.top, b.width, b.height]')

    def mouse(self, x, y):
        """A chain of actions that begins at @x, @y of the lanes."""
        left, top, _, _ = self.box()
        actions = ActionChains(self.driver, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(left + x), round(top + y))
        return actions

    def keys(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()
        self.frames()

    def span(self):
        return self.js('return [tracebuf.viewport.from, tracebuf.viewport.to]')

    def details(self):
        return self.js("return document.getElementById('details').innerText")


def page_of(trace, *options, program=TRACEBUF):
    path = trace.with_suffix('.html')
    said = tool('report', '--html', path, *options, trace, program=program).stderr
    return path, said


def near(a, b, what, by=1e-6):
    want(abs(a - b) <= by * max(abs(a), abs(b), 1), f'{what}: {a}, not {b}')


def text_rows(report):
    """The tables of the text report: {section: [[cell, ...], ...]}."""
    tables, rows = {}, None
    for line in report.splitlines():
        heading = re.fullmatch(r'\S.* \[([a-z-]+)\]', line)
        if heading:
            rows = tables[heading.group(1)] = []
        elif rows is not None and line.startswith('  ') and not line.startswith(('  *', '  (', '    * ')):
            rows.append(line.split())
    return tables


def plain(text):
    return text.replace('\u202f', '').replace('µ', 'u').replace('–', '-')


def wide_slice(browser, kind, least=60):
    """Show a long slice of a row of @kind; its place on the canvas: [x, y, index]."""
    return browser.js('''
        const [kind] = arguments, { view, viewport, drawing, model } = tracebuf;
        const row = model.rows.find((r) => r.kind === kind && r.count > 4);
        let best = 0;
        for (let i = 0; i < row.count; i++)
            if (row.end[i] - row.begin[i] > row.end[best] - row.begin[best])
                best = i;
        viewport.show(row.begin[best], row.end[best]);
        const lane = view.lanes.laneOf(row);
        view.revealLane(lane);
        drawing.scroll = view.scroll.scrollTop;
        view.frame();
        const strip = lane.strips.find((s) => s.rows.includes(row));
        return [(drawing.xOf(row.begin[best]) + drawing.xOf(row.end[best])) / 2,
            lane.y - drawing.scroll + drawing.ruler + strip.top + strip.height / 2, best,
            model.strings[row.names[best]], row.begin[best], row.end[best]];''', kind)


def main():
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        browser = Browser(directory)
        try:
            run(directory, browser)
        finally:
            browser.driver.quit()
    print(f'1..{count}')
    sys.exit(1 if failed else 0)


def run(directory, browser):
    busy, hostile, large = (directory / name for name in ('busy.tbuf', 'hostile.tbuf', 'large.tbuf'))
    tool('busy', busy, 20000, program=PAGE_TRACE)
    tool('hostile', hostile, program=PAGE_TRACE)
    golden = {}
    for name in ('kernel', 'user'):
        golden[name] = directory / f'{name}.tbuf'
        golden[name].write_bytes((HERE.parent.parent / 'golden' / f'{name}.tbuf').read_bytes())
    os.chdir(directory)

    for name, trace in {**golden, 'busy': busy}.items():
        @test(f'{name}: loads from file:// without a complaint, and asks nobody for anything')
        def _():
            page, said = page_of(trace)
            same(said, '', 'said')
            browser.load(page)
            browser.quiet()
            policy = browser.js("return document.querySelector('meta[http-equiv]').content")
            want("default-src 'none'" in policy and 'unsafe' not in policy, policy)

    report = json.loads(tool('report', '--json', busy).stdout)
    sections = {section['id']: section for section in report['sections']}

    def column(section, name):
        at = [c['id'] for c in sections[section]['columns']].index(name)
        return [row[at] for row in sections[section]['rows']]

    @test('the page carries what report --json says')
    def _():
        same(json.loads(browser.js("return document.getElementById('report-data').textContent")), report, 'report')

    @test('cells of tables are exact, and read as in the text')
    def _():
        browser.js("for (const b of document.querySelectorAll('button.more')) b.click()")
        whole = tool('report', '--width', 100000, '--top', 0, busy).stdout
        text, lines_of_text = text_rows(whole), [line.strip() for line in whole.splitlines()]
        compared = 0
        for section in report['sections']:
            if not section['rows']:
                continue
            cells = browser.js('''
                return [...document.querySelectorAll(`#table-${arguments[0]} tbody tr`)].map((tr) =>
                    [...tr.cells].map((td) => [td.dataset.value ?? null, td.textContent]))''', section['id'])
            same(len(cells), len(section['rows']), section['id'] + ' rows')
            for row, shown in zip(section['rows'], cells):
                for c, value, (exact, words) in zip(section['columns'], row, shown):
                    if c['type'] == 'number' and value is not None:
                        same(exact, str(value), f"{section['id']} {c['id']}")
            if section['id'] == 'findings':
                for row in section['rows']:
                    want(f'* {row[3]}' in lines_of_text and row[4] in lines_of_text, row)
            if section['kind'] != 'table' or section['id'] == 'findings':
                continue
            lines = [' '.join(words) for words in text[section['id']][1:]]
            for shown in cells:
                # the text leaves out columns without information
                words = [plain(t) for _, t in shown]
                line = lines.pop(0)
                want(all(word in line for word in words if word not in ('-', '0', '')), section['id'], words, line)
                compared += 1
        want(compared > 250, 'rows compared:', compared)

    @test('the timeline has the times of the report')
    def _():
        cpus = browser.js('return tracebuf.model.cpus.map((c) => [c.cpu, c.run.busy(-1e18, 1e18), '
                          'c.softirq.busy(-1e18, 1e18)])')
        same([[c, b, s] for c, b, s in cpus], [list(r) for r in zip(column('cpu', 'cpu'), column('cpu', 'busy'),
                                                                   column('cpu', 'softirq'))], 'CPUs')
        ran = browser.js('return [...tracebuf.model.threads.values()].filter((t) => t.states)'
                         '.map((t) => [t.tid, t.ran]).sort((a, b) => a[0] - b[0])')
        same(ran, sorted([t, r] for t, r in zip(column('tasks', 'tid'), column('tasks', 'cpu')) if r), 'tasks')
        calls = browser.js('''
            const sums = {};
            for (const row of tracebuf.model.rows.filter((r) => r.kind === 'call'))
                for (let i = 0; i < row.count; i++) {
                    const name = tracebuf.model.strings[row.names[i]];
                    sums[name] = sums[name] || [0, 0];
                    if (!row.doubt[i]) {
                        sums[name][0]++;
                        sums[name][1] += row.end[i] - row.begin[i];
                    }
                }
            return Object.entries(sums).sort()''')
        same(calls, sorted([n, [c, t]] for n, c, t in zip(column('syscalls', 'name'), column('syscalls', 'count'),
                                                          column('syscalls', 'total'))), 'calls')

    @test('every event that print shows is in the timeline')
    def _():
        printed = {}
        for line in tool('print', '--jsonl', busy).stdout.splitlines():
            event = json.loads(line)
            name = f"{event.get('system')}:{event.get('event', event.get('name'))}"
            printed[name] = printed.get(name, 0) + 1
        shown = browser.js('''
            const counts = {};
            for (const row of tracebuf.model.rows)
                for (let i = 0; i < row.count; i++) {
                    const name = /event$/.test(row.kind) ? tracebuf.model.strings[row.names[i]] : row.kind;
                    counts[name] = (counts[name] || 0) + 1;
                }
            return counts''')
        want(printed['sched:sched_wakeup'] > 1000, printed)
        same(shown['sched:sched_wakeup'], printed['sched:sched_wakeup'], 'wake-ups')
        # every beginning is a slice, even if its end is lost
        same(shown['irq'], printed['irq:irq_handler_entry'], 'interrupts')
        same(shown['call'], printed['raw_syscalls:sys_enter'], 'calls')
        same(shown['lost'], 2, 'losses')

    @test('the wheel zooms at the pointer')
    def _():
        browser.js('tracebuf.viewport.fit()')
        _, _, width, height = browser.box()
        left, top, _, _ = browser.box()
        x = round(width * 0.7)
        before, at = browser.span(), browser.js('return tracebuf.drawing.timeAt(arguments[0])', x)
        origin = ScrollOrigin.from_viewport(round(left + x), round(top + height / 2))
        ActionChains(browser.driver).scroll_from_origin(origin, 0, -400).perform()
        browser.until(f'tracebuf.viewport.span < {(before[1] - before[0]) * 0.6}', 'zooming')
        near(browser.js('return tracebuf.drawing.timeAt(arguments[0])', x), at, 'time under the pointer',
             (before[1] - before[0]) / 1000 / max(abs(at), 1))

    @test('dragging moves by what it was dragged')
    def _():
        browser.js('tracebuf.viewport.set(2e6, 4e6)')
        at = browser.js('return tracebuf.drawing.timeAt(700)')
        browser.mouse(700, 200).click_and_hold().move_by_offset(-150, 0).release().perform()
        browser.frames()
        near(browser.js('return tracebuf.drawing.timeAt(550)'), at, 'time under the pointer', 1e-3)

    @test('keys move and zoom; 0 shows all')
    def _():
        browser.js("tracebuf.viewport.set(2e6, 4e6); document.getElementById('lanes').focus()")
        browser.keys(Keys.ARROW_RIGHT)
        near(browser.span()[0], 2.4e6, 'right')
        browser.keys('a')
        near(browser.span()[0], 2e6, 'left')
        browser.keys('+')
        near(browser.js('return tracebuf.viewport.span'), 2e6 / 1.5, 'in')
        browser.keys('s')
        near(browser.js('return tracebuf.viewport.span'), 2e6, 'out')
        browser.keys(Keys.PAGE_DOWN)
        want(browser.js("return document.getElementById('scroll').scrollTop") > 100, 'Page Down')
        browser.keys(Keys.HOME, '0')
        same(browser.js("return document.getElementById('scroll').scrollTop"), 0, 'Home')
        want(browser.js('return tracebuf.viewport.span >= tracebuf.model.length'), 'all')

    @test('the pointer on a slice shows its fields; a click chooses it, "." the next')
    def _():
        x, y, index, name, begin, end = wide_slice(browser, 'call')
        browser.mouse(x, y).perform()
        tip = browser.until("!document.getElementById('tip').hidden && document.getElementById('tip').innerText", 'tip')
        want(name in tip and 'duration' in tip and 'args' in tip, tip)
        browser.mouse(x, y).click().perform()
        browser.frames()
        text = browser.details()
        want(name in text and f'{int(end - begin)} ns' in plain(text), text)
        browser.keys('.')
        same(browser.js('return tracebuf.drawing.selected.index'), index + 1, 'next')
        browser.keys(',', 'z')
        from_, to = browser.span()
        want(from_ <= begin and end <= to and to - from_ < 2 * (end - begin), 'z shows it', from_, to)
        browser.keys(Keys.ESCAPE)
        same(browser.js('return tracebuf.drawing.selected'), None, 'Esc')

    @test('fields of a slice are those of the event it began with')
    def _():
        index, begin, tid, fields = browser.js('''
            const { model } = tracebuf;
            const row = model.rows.find((r) => r.kind === 'call' && r.count > 10);
            return [7, String(model.begin + BigInt(row.begin[7])), row.id, Object.fromEntries(model.details(row, 7))]''')
        for line in tool('print', '--jsonl', '--tid', tid, busy).stdout.splitlines():
            event = json.loads(line)
            if event.get('event', event.get('name')) == 'sys_enter' and str(event['time']).replace('.', '') == begin:
                break
        else:
            raise Wrong(f'no event at {begin} of {tid}')
        args = [int(a, 0) if isinstance(a, str) else a for a in event['fields']['args']]
        same([int(a, 0) for a in fields['args'].split()], args, 'args')

    @test('a range that is measured says what ran in it')
    def _():
        browser.js('tracebuf.viewport.set(1e6, 3e6)')
        browser.frames()
        browser.mouse(500, 250).key_down(Keys.SHIFT).click_and_hold().move_by_offset(300, 20).release() \
            .key_up(Keys.SHIFT).perform()
        browser.frames()
        low, high = browser.js('return tracebuf.drawing.range')
        near(high - low, 300 / browser.js('return tracebuf.drawing.width - tracebuf.drawing.gutter') * 2e6, 'range')
        busy_ns = browser.js('''
            const [low, high] = tracebuf.drawing.range, row = tracebuf.model.cpus[0].run;
            let sum = 0;
            for (let i = 0; i < row.count; i++)
                sum += Math.max(0, Math.min(high, row.end[i]) - Math.max(low, row.begin[i]));
            return sum''')
        near(browser.js('const [a, b] = tracebuf.drawing.range; return tracebuf.model.cpus[0].run.busy(a, b)'),
             busy_ns, 'busy')
        want('CPUs' in browser.details() and 'Tasks' in browser.details(), browser.details())

    @test('search finds names, n and N go through them in order of time')
    def _():
        browser.js('tracebuf.viewport.fit()')
        browser.keys(Keys.ESCAPE, '/')
        same(browser.js('return document.activeElement.id'), 'search', 'focus')
        browser.keys('sched_wakeup', Keys.ENTER)
        total = len([1 for line in tool('print', busy).stdout.splitlines() if ' sched:sched_wakeup:' in line])
        hits = plain(browser.js("return document.getElementById('hits').textContent"))
        same(hits, f'1 of {total}', 'hits')
        browser.js("document.getElementById('lanes').focus()")
        times = []
        for _ in range(30):
            browser.keys('n')
            times.append(browser.js('const s = tracebuf.drawing.selected; return s.row.begin[s.index]'))
        same(times, sorted(times), 'order')
        same(plain(browser.js("return document.getElementById('hits').textContent")), f'31 of {total}', 'hits')
        browser.keys('N')
        same(browser.js('const s = tracebuf.drawing.selected; return s.row.begin[s.index]'), times[-2], 'N')
        browser.keys('/', 'nothing is called that')
        same(browser.js("return document.getElementById('hits').textContent"), 'no hits', 'hits')
        browser.keys(Keys.ESCAPE)
        same(browser.js('return tracebuf.find.matching'), None, 'Esc')

    @test('tables sort by what was clicked, numbers as numbers')
    def _():
        def click(section, name):
            browser.js("document.querySelector(`#table-${arguments[0]} th[data-column=${arguments[1]}] button`).click()",
                       section, name)
            return browser.js('''
                const table = document.getElementById(`table-${arguments[0]}`);
                const th = table.querySelector(`th[data-column=${arguments[1]}]`);
                return [th.ariaSort, [...table.tBodies[0].rows].map((r) => r.cells[th.cellIndex].dataset.value)]''',
                              section, name)
        order, values = click('tasks', 'cpu')
        same((order, [int(v) for v in values]), ('descending', sorted(column('tasks', 'cpu'), reverse=True)), 'down')
        order, values = click('tasks', 'cpu')
        same((order, [int(v) for v in values]), ('ascending', sorted(column('tasks', 'cpu'))), 'up')

    @test('a time in a table leads to the timeline')
    def _():
        browser.js("document.querySelector('#table-latency-worst button.link').click()")
        browser.frames()
        low, high = browser.js('return tracebuf.drawing.range')
        # the latest time at which it ran
        want(abs(report['begin'] + high - column('latency-worst', 'time')[0]) < 2, high)
        near(high - low, column('latency-worst', 'latency')[0], 'as long as it lasted')

    @test('the time of a series leads to its bucket, that of a loss to its place')
    def _():
        def leads(section, name, row=0):
            browser.js('''document.querySelectorAll(`#table-${arguments[0]} tbody tr`)[arguments[2]].cells[
                document.querySelector(`#table-${arguments[0]} th[data-column=${arguments[1]}]`).cellIndex]
                .querySelector('button').click()''', section, name, row)
            browser.frames()
            return browser.js('return tracebuf.drawing.range')

        for name in ('cpu-time', 'tasks-time', 'runqueue-time', 'losses-time'):
            low, high = leads(name, 'time', 3)
            near(report['begin'] + low, column(name, 'time')[3], f'{name}: from', 1e-15)
            near(high - low, sections[name]['width'], f'{name}: as long as it is wide')
        for name in ('losses', 'losses-longest'):
            low, high = leads(name, 'first')
            near(report['begin'] + low, column(name, 'first')[0], f'{name}: from', 1e-15)
            near(report['begin'] + high, column(name, 'last')[0], f'{name}: to', 1e-15)

    @test('light and dark: as the system has it, or as was asked for')
    def _():
        colours = []
        for scheme in ('light', 'dark'):
            browser.media(prefers_color_scheme=scheme)
            browser.frames()
            colours.append(browser.js("return [getComputedStyle(document.body).backgroundColor, tracebuf.drawing.colours.dark]"))
        want(colours[0] != colours[1] and not colours[0][1] and colours[1][1], colours)
        browser.keys('T')
        same(browser.js('return [getComputedStyle(document.body).backgroundColor, tracebuf.drawing.colours.dark]'),
             colours[0], 'light on a dark system')
        browser.keys('T', 'T')
        same(browser.js('return tracebuf.drawing.colours.dark'), True, 'auto again')
        browser.media()

    @test('without a mouse: all that acts can be reached, has a name, and shows that it is in focus')
    def _():
        browser.js("scrollTo(0, 0); document.querySelector('.skip').focus()")
        seen = set()
        for _ in range(14):
            ActionChains(browser.driver).send_keys(Keys.TAB).perform()
            seen.add(browser.js('return document.activeElement.id'))
            want(browser.js("return getComputedStyle(document.activeElement).outlineStyle") != 'none' or
                 browser.js('return document.activeElement === document.body'), 'outline', seen)
        nameless = browser.js('''return [...document.querySelectorAll('button, a, input')].filter((e) =>
            !(e.textContent.trim() || e.getAttribute('aria-label'))).length''')
        same(nameless, 0, 'without a name')
        want('theme' in seen and 'help' in seen, seen)
        browser.js("document.getElementById('lanes').focus()")
        browser.keys('?')
        want(browser.js("return document.getElementById('keys').open"), 'help')
        browser.keys(Keys.ESCAPE)
        want(not browser.js("return document.getElementById('keys').open"), 'Esc')

    @test('fits a narrow window')
    def _():
        browser.size(380, 700)
        browser.frames()
        want(browser.js('return document.documentElement.scrollWidth <= innerWidth'), 'wider than the window',
             browser.js('return document.documentElement.scrollWidth'))
        browser.size(1280, 800)

    @test('prints')
    def _():
        browser.media(prefers_color_scheme='dark')
        browser.js("addEventListener('beforeprint', () => setTimeout(() => 0)); window.printed = [];"
                   "addEventListener('beforeprint', () => window.printed.push(tracebuf.drawing.colours.dark))")
        pdf = browser.driver.execute_cdp_cmd('Page.printToPDF', {})['data']
        want(len(pdf) > 20000, 'PDF', len(pdf))
        same(browser.js('return window.printed'), [False], 'light on paper')
        same(browser.js('return tracebuf.drawing.colours.dark'), True, 'dark again')
        browser.media()
        browser.quiet()

    @test('what programs write: slices in slices, counters, losses')
    def _():
        browser.load(page_of(golden['user'])[0])
        rows = browser.js('''return tracebuf.model.rows.filter((r) => /^user|counter/.test(r.kind)).map((r) =>
            [r.kind, r.owner, r.sub && r.kind === 'user' ? r.sub : 0, [...r.names].map((n) => tracebuf.model.strings[n])])''')
        names = {}
        for kind, _, depth, list_ in rows:
            names.setdefault((kind, depth), []).extend(list_)
        want('request' in names[('user', 0)], names)
        want('parse' in names[('user', 1)] and 'wait' in names[('user', 1)], names)
        want({'bytes', 'load'} <= set(names[('counter', 0)]), names)
        same(names[('user_lost', 0)], ['LOST'], 'losses')
        same(browser.js('''
            const row = tracebuf.model.rows.find((r) => r.kind === 'user' && tracebuf.model.name(r, 0) === 'request');
            return Object.fromEntries(tracebuf.model.details(row, 0)).size'''), '/index \ufffdé\ufffd\ufffd', 'argument')

    @test('names that would be HTML or script are text')
    def _():
        browser.load(page_of(hostile)[0])
        browser.quiet()
        want('hostile' in browser.js('return document.title'), 'title')
        same(browser.js("return document.querySelectorAll('b, img').length"), 0, 'elements')
        same(browser.js("return document.scripts.length"), 3 - 1, 'scripts')
        names = browser.js('return [...tracebuf.model.threads.values()].map((t) => t.name)')
        want('</script><b>x' in names, names)
        want('\\x202e<!--' in names, names)
        want('</script><b>x' in browser.js("return document.getElementById('report').innerText"), 'in a table')
        want('\\x1b[31m\\x9b2J' in names, names)
        shown = browser.js('''return ['#table-tasks-time thead', '#section-tasks-time .u-legend'].map((where) =>
            document.querySelector(where).textContent)''')
        for text in shown:
            want('\\x1b[31m\\x9b2J/102' in text and '\\x202e<!--/101' in text, text)
        text = tool('report', hostile).stdout
        want('?[31m??2J/102' in text, 'title of a series', text)
        same(re.findall('[\x00-\x09\x0b-\x1f\x7f-\x9f]', text), [], 'what a terminal would obey')
        browser.keys('/', 'img')
        same(browser.js("return document.getElementById('hits').textContent"), '1 hit', 'search')
        browser.keys(Keys.ENTER)
        want('onerror' in browser.details(), browser.details())
        same(browser.js("return document.querySelectorAll('b, img').length"), 0, 'elements')

    @test('tasks of a container have a heading, which closes them')
    def _():
        browser.load(page_of(hostile)[0])
        lanes = """const all = tracebuf.view.lanes.list; return all.slice(all.findIndex((l) => l.key === 'tasks'))
            .map((l) => l.kind === 'heading' ? `${l.level} ${l.name} ${l.title}` : l.thread.tid)"""
        shown = browser.js(lanes)
        same(shown[:1] + shown[-2:], ['0 Tasks 3', '1 Container <b>web\\x1b[31m</b> 1', 102], 'lanes')
        browser.js("tracebuf.view.lanes.toggle(tracebuf.view.lanes.list.find((l) => l.level === 1 && "
                   "l.name.startsWith('Container')).key)")
        same(browser.js(lanes), shown[:-1], 'closed')

    @test('after the end of a ring nobody is known to run, to wait or to sleep')
    def _():
        tool('frozen', directory / 'frozen.tbuf', program=PAGE_TRACE)
        browser.load(page_of(directory / 'frozen.tbuf')[0])
        spans = browser.js('''
            return [110, 111, 112].map((tid) => {
                const states = tracebuf.model.threads.get(tid).states;
                return Object.entries(states).flatMap(([name, row]) =>
                    [...row.begin].map((b, i) => [name, Math.round(b / 1e6), Math.round(row.end[i] / 1e6)]));
            })''')
        # the first event is at 1 ms
        same(spans, [[['running', 0, 1], ['unknown', 1, 11]], [['running', 1, 2], ['unknown', 2, 11]],
                     [['running', 0, 9], ['unknown', 9, 11]]], 'states')
        losses = 'return tracebuf.model.losses.map((l) => l.map((t) => Math.round(t / 1e6)))'
        same(browser.js(losses), [[2, 11]], 'losses')
        # the same in a part that ends before the record of the loss
        browser.load(page_of(directory / 'frozen.tbuf', '--to', '+0.0095')[0])
        same(browser.js(losses), [[2, 9]], 'losses of a part')
        browser.quiet()

    @test('the time of which a snapshot has no events of a CPU is unknown, and in no share')
    def _():
        tool('staggered', directory / 'staggered.tbuf', program=REPORT_TRACE)
        browser.load(page_of(directory / 'staggered.tbuf')[0])
        same(browser.js('return tracebuf.model.losses'), [[0, 200_000_000], [400_000_000, 700_000_000]],
             'losses')
        same(browser.js('return tracebuf.view.lanes.list.filter((l) => l.cpu).map((l) => l.title)'),
             ['100.0%', '100.0%'], 'shares')
        same(browser.js('return tracebuf.model.cpus.map((c) => c.lost.busy(0, 1e9))'), [3e8, 2e8], 'lost')
        # a gap in the time before the first block is a part of that time
        tool('behind', directory / 'behind.tbuf', program=REPORT_TRACE)
        browser.load(page_of(directory / 'behind.tbuf')[0])
        same(browser.js('return tracebuf.model.cpus[1].lost.busy(0, 1e9)'), 3e7, 'lost before a block')

    @test('shares of CPUs and tasks are those of the tables, and unknown time is hatched')
    def _():
        lanes = 'return tracebuf.view.lanes.list.filter((l) => l.%s).map((l) => [l.%s, l.%s])'
        for kind in ('gap', 'half', 'unselected', 'deselected', 'killed', 'behind', 'staggered',
                     'chosen', 'clock'):
            tool(kind, directory / f'{kind}.tbuf', program=REPORT_TRACE)
            browser.load(page_of(directory / f'{kind}.tbuf')[0])
            sections = json.loads(browser.js(
                "return document.getElementById('report-data').textContent"))['sections']
            tables = {one['id']: [dict(zip([c['id'] for c in one['columns']], row))
                                  for row in one['rows']] for one in sections}
            drawn = dict(browser.js(lanes % ('cpu', 'cpu.cpu', 'title')))
            for row in tables['cpu']:
                text = '–%' if row['share'] is None else f"{row['share'] / 1e4:.1f}%"
                same(drawn[row['cpu']], text, f"{kind}: share of CPU {row['cpu']}")
            drawn = dict(browser.js(lanes % ('thread', 'thread.tid', 'share')))
            for row in tables['tasks']:
                share = float(drawn[row['tid']][:-1])
                want(abs(share - row['share'] / 1e4) < 0.1, kind, row, drawn)
            drawn = dict(browser.js('''return tracebuf.model.cpus.map((c) => [c.cpu,
                [c.lost, c.unknown].reduce((sum, r) => sum + (r ? r.busy(0, 1e18) : 0), 0)])'''))
            for row in tables['cpu']:
                if row['share'] is not None:
                    same(drawn[row['cpu']], row['unknown'], f"{kind}: unknown, CPU {row['cpu']}")
        browser.quiet()

    @test('--max-events: the page says what it leaves out')
    def _():
        page, said = page_of(busy, '--max-events', 5000)
        want('the timeline ends after' in said, said)
        browser.load(page)
        items, left_out, cut = browser.js('return [tracebuf.model.items, tracebuf.model.leftOut, tracebuf.model.cut]')
        want(5000 <= items < 5300 and left_out > 1000, items, left_out)
        notes = plain(browser.js("return document.getElementById('notes').textContent"))
        want(str(left_out) in notes and 'not in the timeline' in notes, notes)
        want(browser.js('return tracebuf.model.rows.every((r) => r.count === 0 || r.end[r.count - 1] <= arguments[0])', cut),
             'nothing behind the end')
        same(json.loads(browser.js("return document.getElementById('report-data').textContent")), report, 'report')

    @test('only a CPU, only a thread, only a while')
    def _():
        browser.load(page_of(busy, '--cpu', 2)[0])
        same(browser.js('return tracebuf.model.cpus.map((c) => c.cpu)'), [2], 'CPUs')
        browser.load(page_of(busy, '--tid', 110)[0])
        same(browser.js('return [...tracebuf.model.threads.values()].filter((t) => t.states).map((t) => [t.tid, t.ran])'),
             [[110, dict(zip(column('tasks', 'tid'), column('tasks', 'cpu')))[110]]], 'threads')
        browser.load(page_of(busy, '--from', '+0.005', '--to', '+0.010')[0])
        want(browser.js('return tracebuf.model.length') < 6e6, 'length')
        browser.quiet()

    @test('--why: a lane of causes below the thread, with the chain in words')
    def _():
        page, said = page_of(busy, '--why', '110,111')
        browser.load(page)
        lanes = browser.js("""return tracebuf.view.lanes.list.map((l, i, all) => [l.name, l.title, all[i - 1]])
            .filter(([name]) => name === 'why').map(([name, title, above]) => [title, above.thread.tid])""")
        same(sorted(lanes), [['110', 110], ['111', 111]], 'lanes, and what is above')
        tree = json.loads(tool('why', '--json', '-t', 110, busy).stdout)['tree']
        paths = {}

        def walk(node, above):
            for child in node['children']:
                path = above + [child['text']]
                paths[' > '.join(path)] = [child['ns'], child['count']]
                walk(child, path)
        walk(tree, [])
        drawn = browser.js("""
            const { model } = tracebuf, sums = {};
            for (const row of model.threads.get(110).why.rows)
                for (let i = 0; i < row.count; i++) {
                    const path = model.chain(row, i).join(' > ');
                    sums[path] = sums[path] || [0, 0];
                    sums[path][0] += row.end[i] - row.begin[i];
                    sums[path][1]++;
                }
            return sums""")
        same(drawn, paths, 'chains')
        want(max(path.count(' > ') for path in paths) >= 2, 'depth', list(paths)[:9])
        x, y, path = browser.js("""
            const { view, viewport, drawing, model } = tracebuf;
            const row = model.threads.get(110).why.rows[2];
            viewport.show(row.begin[0], row.end[0]);
            const lane = view.lanes.laneOf(row);
            view.revealLane(lane);
            drawing.scroll = view.scroll.scrollTop;
            view.frame();
            const strip = lane.strips.find((s) => s.rows.includes(row));
            return [(drawing.xOf(row.begin[0]) + drawing.xOf(row.end[0])) / 2,
                lane.y - drawing.scroll + drawing.ruler + strip.top + strip.height / 2, model.chain(row, 0)]""")
        browser.mouse(x, y).perform()
        tip = browser.until("!document.getElementById('tip').hidden && document.getElementById('tip').innerText", 'tip')
        want(all(name in tip for name in path) and tip.count('because') == 2, tip, path)
        browser.mouse(x, y).click().perform()
        browser.frames()
        want(all(name in browser.details() for name in path), browser.details(), path)
        browser.quiet()

    @test('--why: the table leads to the longest stretch of a cause')
    def _():
        row, cells = browser.js("""
            const section = tracebuf.report.sections.find((s) => s.id === 'why');
            document.querySelector('#table-why tbody button.link').click();
            return [section.rows[0], section.columns.map((c) => c.id)]""")
        row = dict(zip(cells, row))
        from_, to = browser.js('return tracebuf.drawing.range')
        begin = int(browser.js('return String(tracebuf.model.begin)'))
        same([round(from_) + begin, round(to - from_)], [int(row['begin']), int(row['longest'])], 'range')
        colours = browser.js("""
            const { model, drawing } = tracebuf, of = (cause) => [...model.causes].filter(([, c]) => c.cause === cause)
                .map(([string]) => drawing.colours.named[string]);
            return [of('waits'), drawing.colours.runnable, of('runs').length]""")
        same([colours[0], colours[2] > 1], [[colours[1]], True], 'colours')

    @test('--why: unknown threads and too few events are errors')
    def _():
        page = directory / 'nothing.html'
        for chosen, status, said in (
                (('--why', '4711'), 1, 'nothing is known of such a thread'),
                (('--why', '110', '--max-events', 50), 1, 'choose fewer (--why)'),
                (('--why', '110', '--section', 'why'), 2, '--html writes a page with all sections')):
            done = subprocess.run([TRACEBUF, 'report', '--html', page, *map(str, chosen), busy],
                                  capture_output=True, text=True, errors='replace')
            want(done.returncode == status and said in done.stderr, chosen, done.returncode, done.stderr)
            want(not page.exists(), chosen, 'page')
        done = subprocess.run([TRACEBUF, 'report', '--why', '110', busy], capture_output=True, text=True)
        want(done.returncode == 2 and '--why is for --html and --json' in done.stderr, done.stderr)

    @test('a choice of nothing makes no page')
    def _():
        page = directory / 'nothing.html'
        for chosen in ('--tid', '4711'), ('--cpu', '77'), ('--from', '+1000'):
            done = subprocess.run([TRACEBUF, 'report', '--html', page, *chosen, busy],
                                  capture_output=True, text=True, errors='replace')
            want(done.returncode == 1 and 'holds no such event' in done.stderr, chosen, done.stderr)
            want(not page.exists(), chosen, 'page')

    @test('a trace without events, and one without switches')
    def _():
        durable = directory / 'durable.tbuf'
        durable.write_bytes(golden['kernel'].read_bytes()[:16384])
        browser.load(page_of(durable)[0])
        browser.keys('/', 'x', Keys.ENTER, Keys.ESCAPE, '+', '0', Keys.ENTER)
        notes = "return document.getElementById('notes').textContent"
        browser.load(page_of(busy, '-e', 'irq')[0])
        want('No sched_switch' in browser.js(notes), 'notes')
        # a CPU that is known to be idle for some of the time
        browser.load(page_of(golden['user'])[0])
        want('No sched_switch' not in browser.js(notes), 'notes of an idle CPU')
        same(browser.js('return tracebuf.view.lanes.list.filter((l) => l.cpu).map((l) => l.title)'),
             ['0.0%'], 'share')
        browser.quiet()

    @test('damaged traces become pages, or none')
    def _():
        chance = random.Random(1)
        page = directory / 'damaged.html'
        for turn in range(60):
            data = bytearray(chance.choice([busy, *golden.values()]).read_bytes())
            for _ in range(chance.randrange(1, 40)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            (directory / 'damaged.tbuf').write_bytes(data[:chance.choice([len(data), chance.randrange(len(data))])])
            page.unlink(missing_ok=True)
            done = subprocess.run([TRACEBUF, 'report', '--html', page, directory / 'damaged.tbuf'],
                                  capture_output=True, text=True, errors='replace')
            want(done.returncode in (0, 1) and 'runtime error' not in done.stderr and 'Sanitizer' not in done.stderr,
                 'copy', turn, done.returncode, done.stderr)
            if page.exists() and turn % 6 == 0:
                browser.load(page)
                browser.quiet()

    @test('a million events: loads, is of moderate size, and is drawn')
    def _():
        tool('busy', large, 1000000, program=PAGE_TRACE)
        page, said = page_of(large, program=FAST)
        size = page.stat().st_size
        want(size < 15e6, 'bytes', size)
        browser.load(page)
        times = browser.js('''
            const { view, viewport, model } = tracebuf, times = [];
            for (let i = 0; i < 60; i++) {
                viewport.zoom(0.88, model.length * 0.4);
                const begun = performance.now();
                view.frame();
                times.push(performance.now() - begun);
            }
            return times.sort((a, b) => a - b)''')
        print(f'# {size / 1e6:.1f} MB, {browser.js("return tracebuf.model.items")} items; a frame takes '
              f'{times[30]:.1f} ms, at most {times[-1]:.1f} ms')
        browser.keys('/', 'java', Keys.ENTER)
        want(' of ' in browser.js("return document.getElementById('hits').textContent"), 'search')
        browser.quiet()


main()
