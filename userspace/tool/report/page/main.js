// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page: read its data, show it, pass input to its parts.  In the browser's console "tracebuf"
 * has the data and the view: tracebuf.model, tracebuf.report, tracebuf.viewport.
 */
import { duration, grouped, moment } from './format.js';
import { byId, element, plain } from './element.js';
import { unpack } from './unpack.js';
import { Model } from './model.js';
import { Colours } from './colour.js';
import { Paint } from './paint.js';
import { Viewport } from './viewport.js';
import { Lanes } from './lanes.js';
import { Drawing } from './draw.js';
import { DetailsPane, facts, kindOf } from './details.js';
import { Find } from './find.js';
import { Overview } from './overview.js';
import { Input, KEYS } from './input.js';
import { Charts } from './charts.js';
import { parseReport, showReport } from './tables.js';

const TIP_FIELDS = 10;

class Theme {
	constructor(changed) {
		this.changed = changed;
		this.kind = 'auto';
		this.system = matchMedia('(prefers-color-scheme: dark)');
		this.system.addEventListener('change', () => this.set(this.kind));
		byId('theme').addEventListener('click', () => this.next());
	}

	get dark() {
		return !this.printing && (this.kind === 'dark' || this.kind === 'auto' && this.system.matches);
	}

	next() {
		this.set({ auto: 'light', light: 'dark', dark: 'auto' }[this.kind]);
	}

	set(kind) {
		this.kind = kind;
		byId('theme').textContent = `Theme: ${kind}`;
		document.documentElement.dataset.theme = this.printing ? 'light' : kind;
		this.changed();
	}
}

class View {
	constructor(model) {
		this.model = model;
		this.viewport = new Viewport(model.length);
		this.lanes = new Lanes(model);
		this.drawing = new Drawing(new Paint(byId('canvas')), model, this.lanes, this.viewport);
		this.overview = new Overview(byId('overview'), model, this.viewport);
		this.find = new Find(model);
		this.found = null;
		this.search = byId('search');
		this.scroll = byId('scroll');
		this.details = new DetailsPane(byId('details'), model, {
			zoom: (from, to) => this.viewport.show(from, to),
			step: (direction) => this.step(direction),
			toTask: (tid) => this.toTask(tid),
			clear: () => this.clear(),
		});
		this.viewport.listeners.push(() => this.dirty());
		this.input = new Input(this, byId('lanes'), this.scroll);
		this.scroll.addEventListener('scroll', () => this.dirty());
		this.buttons();
		new ResizeObserver(() => this.resize()).observe(byId('lanes'));
	}

	buttons() {
		const on = (id, act) => byId(id).addEventListener('click', act);

		on('in', () => this.viewport.zoom(1 / 1.5, this.centre()));
		on('out', () => this.viewport.zoom(1.5, this.centre()));
		on('fit', () => this.viewport.fit());
		on('next', () => this.hit(1));
		on('previous', () => this.hit(-1));
		on('help', () => this.help());
		this.search.addEventListener('input', () => this.searchFor(this.search.value));
		this.search.addEventListener('keydown', (event) => {
			if (event.key === 'Enter')
				this.hit(event.shiftKey ? -1 : 1);
		});
	}

	/* ---- drawing ---- */

	dirty() {
		if (this.wanted)
			return;
		this.wanted = requestAnimationFrame(() => this.frame());
	}

	frame() {
		this.wanted = 0;
		this.drawing.scroll = this.scroll.scrollTop;
		this.drawing.draw();
		this.overview.draw(byId('overview').clientWidth, this.drawing.gutter, this.drawing.colours);
		const { from, to, span } = this.viewport;
		const start = moment(this.model.begin + BigInt(Math.round(Math.max(0, from))));

		byId('span').textContent = `${duration(Math.min(span, Math.min(to, this.model.length) - Math.max(0, from)))} from ${start} s`;
	}

	resize() {
		const box = byId('lanes');

		byId('height').style.height = `${this.lanes.height + this.drawing.ruler}px`;
		box.style.maxHeight = `${this.lanes.height + this.drawing.ruler}px`;
		this.drawing.resize(this.scroll.clientWidth || box.clientWidth, box.clientHeight);
		byId('canvas').style.width = `${this.drawing.width}px`;
		byId('canvas').style.height = `${this.drawing.height}px`;
		this.dirty();
	}

	/* Draw for paper: @width and at most @height CSS pixels, with two device pixels for each */
	picture(width, height) {
		this.drawing.resize(width, Math.min(height, this.lanes.height + this.drawing.ruler), 2);
		this.drawing.scroll = this.scroll.scrollTop;
		this.drawing.draw();
		this.overview.draw(width, this.drawing.gutter, this.drawing.colours, 2);
	}

	recolour(dark) {
		this.drawing.colours = new Colours(this.model, dark);
		this.legend();
		this.dirty();
	}

	legend() {
		const css = this.drawing.colours.css;
		const entries = [['running', 'running'], ['runnable', 'runnable, waits for a CPU'],
			['uninterruptible', 'uninterruptible (D)'], ['sleeping', 'sleeping'], ['unknown', 'unknown'],
			['irq', 'interrupt'], ['softirq', 'softirq'], ['lost', 'events lost']];

		byId('legend').replaceChildren(...entries.map(([name, text]) => {
			const box = element('i');

			box.style.background = css[name];
			return element('span', {}, box, text);
		}));
	}

	/* ---- choosing ---- */

	centre() {
		const chosen = this.drawing.selected, { from, to } = this.viewport;

		if (chosen) {
			const middle = (chosen.row.begin[chosen.index] + chosen.row.end[chosen.index]) / 2;

			if (middle > from && middle < to)
				return middle;
		}
		return (from + to) / 2;
	}

	click(x, y) {
		const hit = this.drawing.hit(x, y);

		if (hit.lane && hit.lane.kind === 'heading') {
			this.lanes.toggle(hit.lane.key);
			this.resize();
		} else if (hit.row) {
			this.choose(hit.row, hit.index, hit.lane);
		} else if (x >= this.drawing.gutter) {
			this.clear();
		}
	}

	choose(row, index, lane = this.lanes.laneOf(row)) {
		this.drawing.selected = { row, index };
		this.drawing.range = null;
		if (lane)
			this.details.item(lane, row, index);
		this.dirty();
	}

	clear() {
		this.drawing.selected = this.drawing.range = null;
		this.details.nothing();
		this.dirty();
	}

	escape() {
		byId('tip').hidden = true;
		if (this.search.value) {
			this.search.value = '';
			this.searchFor('');
		} else {
			this.clear();
		}
		byId('lanes').focus({ preventScroll: true });
	}

	step(direction) {
		const chosen = this.drawing.selected;

		if (!chosen) {
			this.chooseMiddle();
			return;
		}
		const index = chosen.index + direction;

		if (index < 0 || index >= chosen.row.count)
			return;
		this.choose(chosen.row, index);
		this.reveal(chosen.row, index);
	}

	/* Choose the first slice of the first visible lane, for keys without a pointer */
	chooseMiddle() {
		const { from } = this.viewport, first = this.lanes.at(this.scroll.scrollTop);

		for (let i = first; i < this.lanes.list.length; i++) {
			const lane = this.lanes.list[i];

			for (const one of lane.strips || [])
				for (const row of [...one.rows].reverse()) {
					const index = Math.min(row.count - 1, row.beginningAt(Math.max(0, from)));

					if (one.kind === 'run' || one.kind === 'state' || one.kind === 'user' || one.kind === 'call') {
						this.choose(row, index, lane);
						return;
					}
				}
		}
	}

	reveal(row, index) {
		this.viewport.reveal(row.begin[index], row.end[index]);
		this.revealLane(this.lanes.laneOf(row));
	}

	revealLane(lane) {
		if (!lane)
			return;
		const top = this.scroll.scrollTop, room = this.scroll.clientHeight - this.drawing.ruler;

		this.resize();
		if (lane.y < top)
			this.scroll.scrollTop = lane.y - 10;
		else if (lane.y + lane.height > top + room)
			this.scroll.scrollTop = lane.y + lane.height - room + 10;
		this.dirty();
	}

	toTask(tid) {
		const thread = this.model.threads.get(tid);

		if (!thread)
			return;
		if (!thread.lane || !this.lanes.list.includes(thread.lane)) {
			this.lanes.closed.clear();
			this.lanes.layout();
		}
		this.revealLane(thread.lane);
	}

	zoomToChosen() {
		const { selected, range } = this.drawing;

		if (range)
			this.viewport.show(range[0], range[1]);
		else if (selected)
			this.viewport.show(selected.row.begin[selected.index], selected.row.end[selected.index]);
	}

	/* ---- a range ---- */

	measure(from, to) {
		const clamp = (time) => Math.max(0, Math.min(this.model.length, time));

		this.drawing.selected = null;
		this.drawing.range = [clamp(Math.min(from, to)), clamp(Math.max(from, to))];
		this.dirty();
	}

	measured() {
		const range = this.drawing.range;

		if (range && range[1] > range[0])
			this.details.range(range[0], range[1]);
	}

	/* ---- the pointer over an item ---- */

	hover(place) {
		const tip = byId('tip'), hit = place && this.drawing.hit(place[0], place[1]);

		if (!hit || !hit.row) {
			tip.hidden = true;
			if (this.drawing.hovered) {
				this.drawing.hovered = null;
				this.dirty();
			}
			return;
		}
		if (!this.drawing.hovered || this.drawing.hovered.row !== hit.row || this.drawing.hovered.index !== hit.index) {
			this.drawing.hovered = { row: hit.row, index: hit.index };
			this.tip(tip, hit);
			this.dirty();
		}
		tip.hidden = false;
		const right = place[0] + 16 + tip.offsetWidth > this.drawing.width;

		tip.style.left = `${Math.max(0, right ? place[0] - 12 - tip.offsetWidth : place[0] + 16)}px`;
		tip.style.top = `${Math.max(0, Math.min(place[1] + 14, this.drawing.height - tip.offsetHeight - 4))}px`;
	}

	tip(tip, { row, index }) {
		const list = facts(this.model, row, index), more = list.length - TIP_FIELDS;
		const body = element('dl');

		for (const [name, text] of list.slice(0, TIP_FIELDS))
			body.append(element('dt', {}, name), element('dd', {}, text.length > 60 ? text.slice(0, 59) + '…' : text));
		tip.replaceChildren(element('strong', {}, this.model.name(row, index) || '(no name)'), ' ',
			element('span', { class: 'soft' }, kindOf(row)), body,
			...(more > 0 ? [element('span', { class: 'soft' }, `and ${more} more: click`)] : []));
	}

	/* ---- searching ---- */

	searchFor(text) {
		this.find.set(text);
		this.found = null;
		this.drawing.matching = this.find.matching;
		byId('hits').textContent = !this.find.text ? '' : this.find.count ? `${grouped(this.find.count)} hit${this.find.count === 1 ? '' : 's'}` : 'no hits';
		this.dirty();
	}

	hit(direction) {
		if (!this.find.count)
			return;
		const edge = direction > 0 ? { begin: this.viewport.from, number: -1, index: -1 } :
			{ begin: this.viewport.to, number: Infinity, index: Infinity };
		const around = direction > 0 ? { begin: -Infinity, number: -1, index: -1 } :
			{ begin: Infinity, number: Infinity, index: Infinity };
		const here = this.find.next(direction, this.found || edge) || this.find.next(direction, around);
		const row = this.model.rows[here.number];

		this.found = here;
		this.choose(row, here.index);
		this.reveal(row, here.index);
		byId('hits').textContent = `${grouped(this.find.ordinal(here))} of ${grouped(this.find.count)}`;
	}

	/** Show @length ns of the trace from time @from (BigInt) on, and the lane of thread @tid
	 * (null: any) */
	goTo(from, length, tid) {
		const begin = Number(from - this.model.begin);

		byId('timeline').scrollIntoView({ block: 'start' });
		this.measure(begin, begin + Math.max(1, length));
		this.viewport.show(begin, begin + Math.max(length, this.model.length / 1e5));
		this.measured();
		if (tid !== null)
			this.toTask(tid);
		byId('lanes').focus({ preventScroll: true });
	}

	help() {
		byId('keys').showModal();
	}
}

/* Columns of times with a duration, which is in the column before, or else the first one: the
 * duration begins (1) or ends (-1) at that time.  Other times are moments */
const SIDES = { begin: 1, from: 1, time: -1 };

/* The span of a time in a table: [begin (BigInt), length] */
function spanOf(section, row, column) {
	const time = BigInt(row[section.columns.indexOf(column)]);

	if (section.kind === 'series')
		return [time, Number(section.width)];
	/* a gap has its end in "last", and no duration */
	if (column.id === 'first')
		return [time, Number(BigInt(row[section.columns.findIndex((one) => one.id === 'last')]) - time)];
	const isLength = (one) => one && one.unit === 'ns', before = section.columns.indexOf(column) - 1;
	const side = SIDES[column.id] || 0;
	const length = isLength(section.columns[before]) ? before : section.columns.findIndex(isLength);
	const lasted = side && length >= 0 ? Number(row[length]) : 0;

	return [side < 0 ? time - BigInt(lasted) : time, lasted];
}

/* Return a function that shows the time of a cell, and the task of its row, in the timeline */
function gotoFrom(view) {
	return (section, row, column) => {
		const tid = section.columns.findIndex((one) => one.id === 'tid');

		view.goTo(...spanOf(section, row, column), tid < 0 || row[tid] === null ? null : Number(row[tid]));
	};
}

function keysList() {
	for (const [keys, what] of KEYS)
		byId('keys-list').append(element('dt', {}, keys), element('dd', {}, what));
}

const places = (count) => count === 1 ? 'one place' : `${grouped(count)} places`;

function notes(model) {
	const list = [];

	if (model.leftOut)
		list.push(`The timeline ends ${duration(model.cut)} after the beginning, with ${grouped(model.items)} items: ` +
			`${grouped(model.leftOut)} events come later. They are in the figures, not in the timeline. ` +
			'To see them, make another page with --from, or a longer one with --max-events.');
	if (!model.hasRuns)
		list.push('No sched_switch events are in the trace: what ran on which CPU, and the states of tasks, are not known.');
	if (model.chosen)
		list.push('Only chosen threads were recorded: where a CPU looks idle, others may have run.');
	if (model.cpus.some((cpu) => cpu.unknown))
		list.push('It is not known what ran in the hatched parts of CPUs; shares are of the rest.');
	if (model.losses.length)
		list.push(`Events are missing in ${places(model.losses.length)}, hatched in the lanes of their CPUs; states ` +
			'of tasks that span one are shown as unknown.');
	byId('notes').hidden = !list.length;
	byId('notes').replaceChildren(...list.map((text) => element('span', {}, text)));
}

/* The first section in a line */
function summary(report) {
	const section = report.sections.find((one) => one.id === 'summary');
	const value = (id) => {
		const at = section ? section.columns.findIndex((column) => column.id === id) : -1;

		return at < 0 || !section.rows.length ? null : section.rows[0][at];
	};
	const counts = [['events', 'events'], ['cpus', 'CPUs'], ['tasks', 'tasks'], ['lost', 'events lost']]
		.filter(([id]) => value(id)).map(([id, text]) => `${grouped(value(id))} ${text}`);

	return [duration(Number(BigInt(report.end) - BigInt(report.begin))), ...counts];
}

/* Size of the timeline on paper, CSS pixels.  It is printed light, from the present position on */
const PAPER = [700, 640];

function printing(theme, view, charts) {
	window.addEventListener('beforeprint', () => {
		theme.printing = true;
		theme.set(theme.kind);
		charts.resize(PAPER[0]);
		view.picture(...PAPER);
	});
	window.addEventListener('afterprint', () => {
		theme.printing = false;
		theme.set(theme.kind);
		charts.resize();
		view.resize();
	});
}

async function start() {
	const report = parseReport(byId('report-data').textContent);
	const model = new Model(await unpack(byId('timeline-data').textContent));
	const title = plain(report.title || 'trace');

	byId('timeline-data').remove();
	document.title = `${title} – tracebuf report`;
	byId('title').textContent = title;
	byId('facts').textContent = summary(report).join(' · ');
	const view = new View(model);
	let charts = null;
	const theme = new Theme(() => {
		view.recolour(theme.dark);
		if (charts)
			charts.redraw();
	});

	view.theme = theme;
	charts = new Charts(theme);
	notes(model);
	keysList();
	byId('contents').append(element('a', { href: '#timeline' }, 'Timeline'));
	theme.set('auto');
	view.resize();
	showReport(report, byId('report'), byId('contents'), charts, gotoFrom(view));
	printing(theme, view, charts);
	globalThis.tracebuf = { report, model, view, viewport: view.viewport, drawing: view.drawing, find: view.find };
	document.documentElement.dataset.ready = 'yes';
}

start().catch((error) => {
	byId('alert').hidden = false;
	byId('alert').textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later; ` +
		'"tracebuf report" shows the same figures as text.';
	console.error(error);
});
