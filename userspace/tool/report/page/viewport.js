// SPDX-License-Identifier: GPL-2.0-only
/*
 * The visible part of the time.  Listeners are called when it changes.
 */

const SHORTEST = 10;	/* ns: the shortest visible span */
const BEYOND = 0.02;	/* share of the view that may be before the beginning or after the end */

export class Viewport {
	constructor(length) {
		this.length = length;
		this.from = 0;
		this.to = length;
		this.listeners = [];
		this.fit();
	}

	get span() {
		return this.to - this.from;
	}

	set(from, to) {
		const most = this.length * (1 + 2 * BEYOND);
		const span = Math.min(most, Math.max(Math.min(SHORTEST, most), to - from));
		const room = span * BEYOND;

		/* keep the middle of the requested span */
		from += (to - from - span) / 2;
		from = Math.max(-Math.max(room, this.length * BEYOND),
			Math.min(from, this.length + Math.max(room, this.length * BEYOND) - span));
		if (from === this.from && from + span === this.to)
			return;
		this.from = from;
		this.to = from + span;
		for (const listener of this.listeners)
			listener();
	}

	fit() {
		this.set(-this.length * BEYOND, this.length * (1 + BEYOND));
	}

	/** Move by @share of the view */
	pan(share) {
		const by = this.span * share;

		this.set(this.from + by, this.to + by);
	}

	/** Zoom, and keep @time at its place */
	zoom(factor, time = (this.from + this.to) / 2) {
		const span = Math.min(this.length * (1 + 2 * BEYOND), Math.max(SHORTEST, this.span * factor));
		const share = (time - this.from) / this.span;

		this.set(time - span * share, time + span * (1 - share));
	}

	/** Show [from, to] with a margin */
	show(from, to) {
		const around = Math.max((to - from) * 0.15, SHORTEST);

		this.set(from - around, to + around);
	}

	/** Make [from, to] visible; zoom out only if it is longer than the view */
	reveal(from, to) {
		if (to - from > this.span)
			this.show(from, to);
		else if (from < this.from || to > this.to)
			this.set((from + to - this.span) / 2, (from + to + this.span) / 2);
	}
}
