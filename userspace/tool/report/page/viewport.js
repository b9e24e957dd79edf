// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which part of the time is seen.  Whoever wants to know when that changes listens.
 */

const SHORTEST = 10;	/* ns that are seen at least */
const BEYOND = 0.02;	/* of what is seen may be before the beginning or behind the end */

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

		/* around the middle of what was asked for */
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

	/** @share: of what is seen */
	pan(share) {
		const by = this.span * share;

		this.set(this.from + by, this.to + by);
	}

	/** Around @time, which stays where it is */
	zoom(factor, time = (this.from + this.to) / 2) {
		const span = Math.min(this.length * (1 + 2 * BEYOND), Math.max(SHORTEST, this.span * factor));
		const share = (time - this.from) / this.span;

		this.set(time - span * share, time + span * (1 - share));
	}

	/** So that [from, to] is seen, with something around it */
	show(from, to) {
		const around = Math.max((to - from) * 0.15, SHORTEST);

		this.set(from - around, to + around);
	}

	/** So that @from is seen, if it is not, without zooming more than needed */
	reveal(from, to) {
		if (to - from > this.span)
			this.show(from, to);
		else if (from < this.from || to > this.to)
			this.set((from + to - this.span) / 2, (from + to + this.span) / 2);
	}
}
