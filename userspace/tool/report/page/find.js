// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search: find the names that contain a text, and the next item in time that has such a name.
 */

export class Find {
	constructor(model) {
		this.model = model;
		this.text = '';
		this.matching = null;
		this.count = 0;
	}

	/** Search for @text from now on; "": for nothing */
	set(text) {
		const wanted = text.trim().toLowerCase();

		this.text = wanted;
		this.matching = null;
		this.count = 0;
		if (!wanted)
			return;
		this.matching = Uint8Array.from(this.model.strings, (s) => s.toLowerCase().includes(wanted) ? 1 : 0);
		for (const row of this.model.rows)
			for (let i = 0; i < row.count; i++)
				this.count += this.matching[row.names[i]];
	}

	/* The order of items: by time, then by row, then by index */
	before(a, b) {
		return a.begin !== b.begin ? a.begin < b.begin : a.number !== b.number ? a.number < b.number : a.index < b.index;
	}

	/** The hit after (@direction 1) or before (-1) @from: { begin, number of the row, index };
	 * null: none */
	next(direction, from) {
		let best = null;

		this.model.rows.forEach((row, number) => {
			const step = this.inRow(row, number, direction, from, best);

			if (step)
				best = step;
		});
		return best;
	}

	inRow(row, number, direction, from, best) {
		let i = direction > 0 ? row.beginningAt(from.begin) : row.beginningAt(from.begin + 1e-3) - 1;

		/* several items may begin at the same time */
		while (direction < 0 && i + 1 < row.count && row.begin[i + 1] === from.begin)
			i++;
		for (; i >= 0 && i < row.count; i += direction) {
			const here = { begin: row.begin[i], number, index: i };

			if (best && (direction > 0 ? here.begin > best.begin : here.begin < best.begin))
				return null;
			if (!this.matching[row.names[i]] ||
			    (direction > 0 ? !this.before(from, here) : !this.before(here, from)))
				continue;
			return !best || (direction > 0 ? this.before(here, best) : this.before(best, here)) ? here : null;
		}
		return null;
	}

	/** The number of hit @here, from 1 */
	ordinal(here) {
		let count = 0;

		this.model.rows.forEach((row, number) => {
			for (let i = 0; i < row.count && row.begin[i] <= here.begin; i++)
				if (this.matching[row.names[i]] && !this.before(here, { begin: row.begin[i], number, index: i }))
					count++;
		});
		return count;
	}
}
