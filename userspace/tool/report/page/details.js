// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pane below the timeline: the details of the chosen item, or figures of a range of time.
 */
import { duration, grouped, moment } from './format.js';
import { element } from './element.js';
import { cpuShare, shareOf } from './model.js';

const KINDS = {
	run: 'run', irq: 'interrupt', softirq: 'softirq', cpu_event: 'event', lost: 'loss', call: 'system call',
	event: 'event', user: 'slice of a program', user_event: 'event of a program', user_lost: 'loss of a program',
	counter: 'counter', state: 'state', why: 'cause', unknown: 'not known what ran',
};
const DOUBTS = ['', 'events are missing in between: it may be several', 'its end is not in the trace',
	'its beginning is not in the trace'];
const TASKS = 10;

/** [[name, text], ...] of an item, its time first */
export function facts(model, row, index) {
	const begin = row.begin[index], length = row.end[index] - begin;
	const list = [['begin', moment(model.begin + BigInt(Math.round(begin))) + ' s']];

	if (length || !['event', 'cpu_event', 'user_event', 'counter'].includes(row.kind))
		list.push(['duration', length < 1000 ? duration(length) : `${duration(length)} (${grouped(length)} ns)`]);
	if (row.kind === 'why')
		list.push(...model.chain(row, index).map((name, depth) => [depth ? 'because' : 'the thread', name]));
	else
		list.push(...model.details(row, index));
	const [origin, i] = model.origin(row, index);

	if (origin.doubt && origin.doubt[i])
		list.push(['doubt', DOUBTS[origin.doubt[i]]]);
	return list;
}

export function kindOf(row) {
	return KINDS[row.kind] || row.kind;
}

export class DetailsPane {
	/** @go: { zoom(from, to), step(direction), toTask(tid), clear() } */
	constructor(pane, model, go) {
		Object.assign(this, { pane, model, go });
		this.nothing();
	}

	show(...children) {
		this.pane.replaceChildren(...children);
	}

	nothing() {
		this.show(element('p', { class: 'hint' },
			'Click a slice to see its details. Shift and drag, or drag in the ruler, to measure a range.'));
	}

	button(text, title, act) {
		return element('button', { type: 'button', title, onclick: act }, text);
	}

	item(lane, row, index) {
		const list = element('dl', { class: 'facts-list' });
		const place = lane.cpu ? lane.name : `${lane.name} ${lane.title}`;

		for (const [name, text] of facts(this.model, row, index))
			list.append(element('div', {}, element('dt', {}, name), element('dd', {}, text)));
		this.show(element('div', { class: 'details-head' },
			element('h3', {}, this.model.name(row, index) || '(no name)'),
			element('span', { class: 'soft' }, `${kindOf(row)} · ${place}`),
			element('span', { class: 'grow' }),
			this.button('‹', 'Previous in this row (,)', () => this.go.step(-1)),
			this.button('›', 'Next in this row (.)', () => this.go.step(1)),
			this.button('Zoom', 'Zoom to it (z)', () => this.go.zoom(row.begin[index], row.end[index])),
			this.taskButton(row, index),
			this.button('Close', 'Clear the choice (Esc)', () => this.go.clear())), list);
	}

	taskButton(row, index) {
		const [run, i] = this.model.origin(row, index);
		const tid = row.kind === 'why' && this.model.causes.get(row.names[index]).tid;

		if (tid)
			return this.button('Task', 'To the lane of this task', () => this.go.toTask(Number(tid)));
		if (run.kind !== 'run')
			return null;
		return row === run ? this.button('Task', 'To the lane of this task', () => this.go.toTask(run.tid[i])) :
			run.waker[i] > 1 ? this.button('Waker', 'To the lane of the task that woke it',
				() => this.go.toTask(run.waker[i] - 1)) : null;
	}

	/* ---- a range ---- */

	range(from, to) {
		const model = this.model, length = to - from;
		const lost = model.losses.filter((loss) => loss[0] < to && loss[1] >= from).length;

		this.show(element('div', { class: 'details-head' },
			element('h3', {}, duration(length)),
			element('span', { class: 'soft' }, `${moment(model.begin + BigInt(Math.round(from)))} s to ` +
				`${moment(model.begin + BigInt(Math.round(to)))} s` +
				(lost ? ` · events are missing in ${lost} places` : '')),
			element('span', { class: 'grow' }),
			this.button('Zoom', 'Zoom to it (z)', () => this.go.zoom(from, to)),
			this.button('Close', 'Clear the range (Esc)', () => this.go.clear())),
		element('div', { class: 'range-tables' }, this.cpus(from, to), this.tasks(from, to), this.counts(from, to)));
	}

	table(caption, heads, rows) {
		const body = element('tbody');

		for (const row of rows)
			body.append(element('tr', {}, ...row.map((cell, i) =>
				element(i ? 'td' : 'th', i ? { class: 'number' } : { scope: 'row' }, String(cell)))));
		return element('table', { class: 'figures' }, element('caption', {}, caption), element('thead', {},
			element('tr', {}, ...heads.map((head, i) => element('th', i ? { class: 'number', scope: 'col' } :
				{ scope: 'col' }, head)))), body);
	}

	cpus(from, to) {
		const busy = (row) => row ? row.busy(from, to) : 0;

		return this.table('CPUs', ['CPU', 'tasks', '%', 'irq', 'softirq'], this.model.cpus.map((cpu) => [cpu.cpu,
			duration(busy(cpu.run)), cpuShare(cpu, from, to),
			duration(busy(cpu.irq[0])), duration(busy(cpu.softirq))]));
	}

	tasks(from, to) {
		const list = [];

		for (const thread of this.model.threads.values()) {
			const ran = thread.states ? thread.states.running.busy(from, to) : 0;

			if (ran)
				list.push([thread, ran, thread.states.runnable.busy(from, to)]);
		}
		list.sort((a, b) => b[1] - a[1]);
		const more = list.length > TASKS ? `, ${TASKS} of ${list.length}` : '';

		return this.table('Tasks' + more, ['task', 'running', '%', 'runnable'], list.slice(0, TASKS).map(
			([thread, ran, waited]) => [`${thread.name} ${thread.tid}`, duration(ran),
				shareOf(this.model.ranIn(thread, from, to), this.model.knownIn(from, to)),
				duration(waited)]));
	}

	counts(from, to) {
		const kinds = new Map();

		for (const row of this.model.rows) {
			const count = row.beginningAt(to) - row.beginningAt(from);

			if (count)
				kinds.set(kindOf(row), (kinds.get(kindOf(row)) || 0) + count);
		}
		return this.table('Beginning in it', ['kind', 'count'], [...kinds].sort((a, b) => b[1] - a[1])
			.map(([kind, count]) => [kind, grouped(count)]));
	}
}
