// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes from top to bottom: CPUs, then processes with their threads: those in no known container,
 * then container by container.  A lane has strips; the rows of a strip are drawn over each other.
 */

import { cpuShare, shareOf } from './model.js';

/* In CSS pixels */
const STRIP = { irq: 7, softirq: 7, run: 17, tick: 6, state: 13, call: 13, user: 14, lost: 6, counter: 26, why: 13 };
const PAD = 5;
const HEAD = 20;

function strip(kind, rows, height) {
	return { kind, rows: rows.filter((row) => row && row.count), height };
}

function lane(name, title, strips, more) {
	const shown = strips.filter((one) => one.rows.length || one.always);
	let height = PAD;

	for (const one of shown) {
		one.top = height;
		height += one.height + 1;
	}
	return { kind: 'lane', name, title, strips: shown, height: Math.max(height + PAD, 2 * PAD + 15), ...more };
}

function cpuLane(cpu, model) {
	/* draw an interrupt below those that interrupted it */
	const strips = [...cpu.irq].reverse().map((row) => strip('irq', [row], STRIP.irq));

	strips.push(strip('softirq', [cpu.softirq], STRIP.softirq));
	strips.push({ ...strip('run', [cpu.unknown, cpu.run], STRIP.run), always: true });
	strips.push(strip('tick', [cpu.events], STRIP.tick));
	return lane(`CPU ${cpu.cpu}`, model.hasRuns ? cpuShare(cpu, 0, model.cut) + '%' : '', strips,
		{ cpu, lost: cpu.lost });
}

function threadLane(thread, inProcess, known) {
	const strips = [];
	const states = thread.states;

	if (states)
		strips.push(strip('state', [states.sleeping, states.unknown, states.uninterruptible,
			states.runnable, states.running], STRIP.state));
	for (const row of thread.rows) {
		if (row.kind === 'call')
			strips.push(strip('call', [row], STRIP.call));
		else if (row.kind === 'user')
			strips.push(strip('user', [row], STRIP.user));
		else if (row.kind === 'user_lost')
			strips.push(strip('lost', [row], STRIP.lost));
		else if (row.kind === 'counter')
			strips.push(strip('counter', [row], STRIP.counter));
		else
			strips.push(strip('tick', [row], STRIP.tick));
	}
	return lane(thread.name, String(thread.tid), strips, { thread, inside: inProcess,
		share: thread.states ? shareOf(thread.sure, known) + '%' : '' });
}

/* The causes of --why: each strip has the reasons of the strip above */
function whyLane(thread) {
	return lane('why', String(thread.tid), thread.why.rows.map((row) => strip('why', [row], STRIP.why)),
		{ inside: true });
}

export class Lanes {
	constructor(model) {
		this.model = model;
		this.closed = new Set();
		this.layout();
	}

	toggle(key) {
		if (!this.closed.delete(key))
			this.closed.add(key);
		this.layout();
	}

	layout() {
		const list = [];
		const known = this.model.knownIn(0, this.model.cut);
		const add = (one) => list.push(one);
		const heading = (key, name, title, share, level) => add({ kind: 'heading', key, name, title, share,
			level, height: HEAD, closed: this.closed.has(key) });

		heading('cpus', 'CPUs', String(this.model.cpus.length), '', 0);
		if (!this.closed.has('cpus'))
			for (const cpu of this.model.cpus)
				add(this.made(cpu, () => cpuLane(cpu, this.model)));
		const tasks = (processes) => String(processes.reduce((n, p) => n + p.threads.length, 0));

		heading('tasks', 'Tasks', tasks(this.model.processes), '', 0);
		for (const { name, processes, ran, sure } of this.closed.has('tasks') ? [] : this.model.containers) {
			const key = 'container ' + name;

			if (name)
				heading(key, 'Container ' + name, tasks(processes), ran ? shareOf(sure, known) + '%' : '', 1);
			for (const process of this.closed.has(key) ? [] : processes)
				this.addProcess(process, add, heading, known);
		}
		let top = 0;

		for (const one of list) {
			one.y = top;
			top += one.height;
		}
		this.list = list;
		this.height = top;
	}

	addProcess(process, add, heading, known) {
		const several = process.threads.length > 1;
		const key = 'process ' + process.tgid;
		const level = process.container ? 2 : 1;

		if (several)
			heading(key, process.name, `${process.tgid}, ${process.threads.length} threads`,
				process.ran ? shareOf(process.sure, known) + '%' : '', level);
		if (!several || !this.closed.has(key))
			for (const thread of process.threads) {
				add(this.made(thread, () => threadLane(thread, several, known)));
				if (thread.why)
					add(this.made(thread.why, () => whyLane(thread)));
			}
	}

	/* Make a lane once: only its position changes later */
	made(owner, make) {
		owner.lane = owner.lane || make();
		return owner.lane;
	}

	/** Index of the lane at @y */
	at(y) {
		let low = 0, high = this.list.length;

		while (low < high) {
			const middle = (low + high) >>> 1;

			if (this.list[middle].y + this.list[middle].height <= y)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/** The lane of @row; opens all headings if it is hidden */
	laneOf(row) {
		const find = () => this.list.find((one) => one.strips && (one.lost === row ||
			one.strips.some((s) => s.rows.includes(row))));
		let found = find();

		if (!found && this.closed.size) {
			this.closed.clear();
			this.layout();
			found = find();
		}
		return found;
	}
}
