// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs, threads and processes, from the rows of the timeline.  States of threads follow from their
 * runs: when each began and ended, the state at its end, and the wake-up.
 */
import { Row } from './row.js';

/** The time in which it is known what the CPU ran */
export function cpuKnown(cpu, from, to) {
	return to - from - (cpu.lost ? cpu.lost.busy(from, to) : 0) - (cpu.unknown ? cpu.unknown.busy(from, to) : 0);
}

/** @part of @whole in percent, "12.3" */
export function shareOf(part, whole) {
	return whole > 0 ? (100 * part / whole).toFixed(1) : '–';
}

/** How much of the known time the CPU ran tasks; of chosen threads, others may have run, too */
export function cpuShare(cpu, from, to) {
	return cpu.chosen ? '–' : shareOf(cpu.run ? cpu.run.busy(from, to) : 0, cpuKnown(cpu, from, to));
}

/* Join spans that overlap: [[begin, end], ...] */
function union(spans) {
	const begin = [], end = [];

	spans.sort((a, b) => a[0] - b[0]);
	for (const [from, to] of spans) {
		if (begin.length && from <= end[end.length - 1]) {
			end[end.length - 1] = Math.max(end[end.length - 1], to);
		} else {
			begin.push(from);
			end.push(to);
		}
	}
	return new Row(Float64Array.from(begin), Float64Array.from(end));
}

function meets(row, from, to) {
	const i = row.endingAfter(from);

	return i < row.count && row.begin[i] < to;
}

/** States of threads: uninterruptible is D, unknown means that events are missing */
export const STATES = ['running', 'runnable', 'uninterruptible', 'sleeping', 'unknown'];

/* Growing lists of beginnings and ends */
class Spans {
	constructor() {
		this.begin = [];
		this.end = [];
	}

	add(begin, end) {
		if (end <= begin)
			return;
		this.begin.push(begin);
		this.end.push(end);
	}

	row(state) {
		const row = new Row(Float64Array.from(this.begin), Float64Array.from(this.end));

		row.kind = 'state';
		row.state = state;
		return row;
	}
}

/* Sort a row by time, unless it is: a trace can have impossible times */
function inOrder(row) {
	let fine = true;

	for (let i = 1; fine && i < row.count; i++)
		fine = row.begin[i] >= row.end[i - 1];
	if (fine)
		return;
	const order = Uint32Array.from(row.begin.keys()).sort((a, b) => row.begin[a] - row.begin[b]);

	for (const key of ['begin', 'end', 'doubt', 'names', 'values', 'tid', 'state', 'waited', 'waker', 'prio'])
		if (row[key])
			row[key] = row[key].map((_, i) => row[key][order[i]]);
	row.order = order;
	/* give the time of an overlap to the first item: looking up pixels needs items that do not
	 * overlap */
	for (let i = 1; i < row.count; i++) {
		row.begin[i] = Math.max(row.begin[i], row.end[i - 1]);
		row.end[i] = Math.max(row.end[i], row.begin[i]);
	}
}

function makeRow(packed) {
	inOrder(packed);
	return Object.assign(new Row(packed.begin, packed.end), packed);
}

export class Model {
	constructor(packed) {
		this.strings = packed.strings;
		this.begin = BigInt(packed.begin);
		this.length = Math.max(1, Number(BigInt(packed.end) - this.begin));
		/* end of the timeline, which may be before the end of the trace */
		this.cut = packed.left_out ? Number(BigInt(packed.cut) - this.begin) : this.length;
		this.leftOut = packed.left_out = Number(packed.left_out);
		this.items = Number(packed.items);
		this.rows = packed.rows.map(makeRow);
		this.threads = new Map();
		for (const [tid, tgid, name, woken, container] of packed.threads)
			this.threads.set(tid, { tid, tgid, name: this.strings[name], woken, rows: [], ran: 0, sure: 0,
				container: this.strings[container] || '' });
		/* is it known of any time what ran?  Were only chosen threads recorded? */
		this.hasRuns = packed.runs === '1';
		this.chosen = packed.chosen === '1';
		this.makeLosses();
		this.makeCpus();
		this.makeUnsure();
		this.makeRuns();
		this.makeThreads();
		this.makeCauses();
		this.makeProcesses();
	}

	of(kind) {
		return this.rows.filter((row) => row.kind === kind);
	}

	/** The name of thread @tid */
	label(tid) {
		const thread = this.threads.get(tid);

		return tid ? `${thread ? thread.name : '<...>'} ${tid}` : 'idle';
	}

	makeLosses() {
		const all = [];

		for (const row of this.of('lost'))
			for (let i = 0; i < row.count; i++)
				all.push([row.begin[i], row.end[i]]);
		this.losses = all;
		this.lost = union(all);
	}

	/* When it is not known of all CPUs what ran.  As in the report, a CPU of which nothing is known
	 * is left out of this */
	makeUnsure() {
		const all = [];

		for (const cpu of this.cpus)
			for (const row of cpuKnown(cpu, 0, this.length) > 0 ? [cpu.lost, cpu.unknown] : [])
				for (let i = 0; row && i < row.count; i++)
					all.push([row.begin[i], row.end[i]]);
		this.unsure = union(all);
	}

	knownIn(from, to) {
		return to - from - this.unsure.busy(from, to);
	}

	/** For how long a thread ran while it was known of all CPUs what ran */
	ranIn(thread, from, to) {
		const running = thread.states.running, unsure = this.unsure;
		let ran = running.busy(from, to);

		for (let i = unsure.endingAfter(from); i < unsure.count && unsure.begin[i] < to; i++)
			ran -= running.busy(Math.max(from, unsure.begin[i]), Math.min(to, unsure.end[i]));
		return ran;
	}

	makeCpus() {
		const cpus = new Map();

		for (const row of this.rows) {
			if (!['run', 'irq', 'softirq', 'cpu_event', 'lost', 'unknown'].includes(row.kind))
				continue;
			if (!cpus.has(row.id))
				cpus.set(row.id, { cpu: row.id, chosen: this.chosen, irq: [], softirq: null, run: null,
					events: null, lost: null, unknown: null });
			const cpu = cpus.get(row.id);

			if (row.kind === 'irq')
				cpu.irq[row.sub] = row;
			else
				cpu[{ cpu_event: 'events' }[row.kind] || row.kind] = row;
		}
		this.cpus = [...cpus.values()].sort((a, b) => a.cpu - b.cpu);
	}

	/* Give the runs of all CPUs, in order of time, to their threads */
	makeRuns() {
		const rows = this.cpus.map((cpu) => cpu.run).filter(Boolean);
		const at = rows.map(() => 0);
		const counts = new Map();

		for (const row of rows)
			for (let i = 0; i < row.count; i++)
				counts.set(row.tid[i], (counts.get(row.tid[i]) || 0) + 1);
		for (const [tid, count] of counts) {
			const thread = this.threads.get(tid);

			thread.runs = { begin: new Float64Array(count), end: new Float64Array(count),
				row: new Uint16Array(count), index: new Uint32Array(count), used: 0 };
		}
		for (;;) {
			let best = -1;

			for (let r = 0; r < rows.length; r++)
				if (at[r] < rows[r].count &&
				    (best < 0 || rows[r].begin[at[r]] < rows[best].begin[at[best]]))
					best = r;
			if (best < 0)
				break;
			const row = rows[best], i = at[best]++;
			const runs = this.threads.get(row.tid[i]).runs, k = runs.used++;

			runs.begin[k] = row.begin[i];
			runs.end[k] = row.end[i];
			runs.row[k] = best;
			runs.index[k] = i;
		}
		this.runRows = rows;
	}

	/** The run of a CPU that an item of a thread's row of runs is: [row, index]; any other item
	 * is itself */
	origin(row, index) {
		return row.state === 'running' ? [this.runRows[row.row[index]], row.index[index]] : [row, index];
	}

	/* True if a thread may have run in between without an event that says so */
	isUnsure(begin, end) {
		return meets(this.lost, begin, end) || meets(this.unsure, begin, end);
	}

	/* Add the states between run @k and the next, or after the last */
	gap(thread, k, spans) {
		const runs = thread.runs, last = k === runs.used - 1;
		const begin = runs.end[k];
		const row = this.runRows[runs.row[k]], at = runs.index[k];
		const state = row.state[at] ? this.strings[row.state[at] - 1] : '';
		let end = this.cut, waited = -1;

		if (!last) {
			const next = this.runRows[runs.row[k + 1]];

			end = runs.begin[k + 1];
			waited = next.waited[runs.index[k + 1]] - 1;
		} else if (thread.woken >= begin) {
			waited = end - thread.woken;
		}
		if (/^[XZ]/.test(state))
			return;
		if (!state) {
			/* a thread that runs at the end has no state after it, unless events are
			 * missing there */
			if (!last || this.isUnsure(begin, end))
				spans.unknown.add(begin, end);
			return;
		}
		if (this.isUnsure(begin, end)) {
			spans.unknown.add(begin, end);
			return;
		}
		if (state[0] === 'R') {
			spans.runnable.add(begin, end);
			return;
		}
		const woken = waited >= 0 ? Math.max(begin, end - waited) : end;

		(state[0] === 'D' ? spans.uninterruptible : spans.sleeping).add(begin, woken);
		spans.runnable.add(woken, end);
	}

	makeStates(thread) {
		const spans = {};
		const runs = thread.runs;

		for (const state of STATES.slice(1))
			spans[state] = new Spans();
		const first = this.runRows[runs.row[0]].waited[runs.index[0]] - 1;

		if (first > 0)
			spans.runnable.add(runs.begin[0] - first, runs.begin[0]);
		for (let k = 0; k < runs.used; k++)
			this.gap(thread, k, spans);
		const running = new Row(runs.begin, runs.end);

		Object.assign(running, { kind: 'state', state: 'running', row: runs.row, index: runs.index });
		thread.states = { running };
		for (const state of STATES.slice(1))
			thread.states[state] = spans[state].row(state);
		running.prepare();
		thread.ran = running.sums[running.count];
		thread.sure = this.ranIn(thread, 0, this.cut);
		delete thread.runs;
	}

	makeThreads() {
		for (const thread of this.threads.values())
			if (thread.runs)
				this.makeStates(thread);
		for (const row of this.rows) {
			const owner = row.kind === 'counter' ? row.process : row.owner || row.process;
			const thread = this.threads.get(owner);

			if (thread && ['call', 'event', 'user', 'user_event', 'user_lost', 'counter'].includes(row.kind))
				thread.rows.push(row);
		}
		const order = { call: 0, user: 1, user_event: 2, user_lost: 3, event: 4, counter: 5 };

		for (const thread of this.threads.values())
			thread.rows.sort((a, b) => order[a.kind] - order[b.kind] || a.id - b.id || a.sub - b.sub);
	}

	/* For --why: give rows of causes to their threads, the outermost first, and note the cause
	 * and thread of each name */
	makeCauses() {
		this.causes = new Map();
		for (const row of this.of('why').sort((a, b) => a.sub - b.sub)) {
			const thread = this.threads.get(row.id);

			thread.why = thread.why || { rows: [] };
			thread.why.rows.push(row);
			for (let i = 0; i < row.count; i++)
				if (!this.causes.has(row.names[i]))
					this.causes.set(row.names[i], Object.fromEntries(row.details.of(i)));
		}
	}

	/** The chain of causes that ends with item @index, the outermost first: [name, ...] */
	chain(row, index) {
		return this.threads.get(row.id).why.rows.slice(0, row.sub + 1)
			.map((above) => this.name(above, above.endingAfter(row.begin[index])));
	}

	/* Group threads by process; sort both by the time that they ran, the longest first */
	makeProcesses() {
		const processes = new Map();

		for (const thread of this.threads.values()) {
			if (!thread.tid || (!thread.states && !thread.rows.length && !thread.why))
				continue;
			if (!processes.has(thread.tgid))
				processes.set(thread.tgid, { tgid: thread.tgid, threads: [], ran: 0, sure: 0 });
			const process = processes.get(thread.tgid);

			process.threads.push(thread);
			process.ran += thread.ran;
			process.sure += thread.sure;
		}
		this.processes = [...processes.values()].sort((a, b) => b.ran - a.ran || a.tgid - b.tgid);
		for (const process of this.processes) {
			process.threads.sort((a, b) => b.ran - a.ran || a.tid - b.tid);
			const leader = this.threads.get(process.tgid);

			process.name = leader ? leader.name : process.threads[0].name;
			process.container = (leader || process.threads[0]).container;
		}
		/* those without a known container first */
		const containers = new Map([['', { name: '', processes: [], ran: 0, sure: 0 }]]);

		for (const process of this.processes) {
			if (!containers.has(process.container))
				containers.set(process.container, { name: process.container, processes: [], ran: 0, sure: 0 });
			const container = containers.get(process.container);

			container.processes.push(process);
			container.ran += process.ran;
			container.sure += process.sure;
		}
		this.containers = [...containers.values()].sort((a, b) => !a.name ? -1 : !b.name ? 1 : b.ran - a.ran);
	}

	/** The details of an item: [[name, text], ...] */
	details(row, index) {
		if (row.details)
			return row.details.of(row.order ? row.order[index] : index);
		const [run, i] = this.origin(row, index);

		return run.kind === 'run' ? this.runDetails(run, i) : [];
	}

	runDetails(row, i) {
		const list = [['tid', String(row.tid[i])], ['cpu', String(row.id)]];
		const thread = this.threads.get(row.tid[i]);

		if (thread && thread.tgid !== thread.tid)
			list.push(['tgid', String(thread.tgid)]);
		if (row.prio[i] > -2147483648)
			list.push(['prio', String(row.prio[i])]);
		if (row.waited[i])
			list.push(['waited_ns', String(row.waited[i] - 1)]);
		if (row.waker[i])
			list.push(['woken_by', this.label(row.waker[i] - 1)]);
		if (row.state[i])
			list.push(['end_state', this.strings[row.state[i] - 1]]);
		return list;
	}

	/** The name of an item */
	name(row, index) {
		if (row.kind === 'state' && row.state !== 'running')
			return row.state;
		const [origin, i] = this.origin(row, index);

		return this.strings[origin.names[i]];
	}
}
