// SPDX-License-Identifier: GPL-2.0-only
/*
 * Items in order of time, and look-ups for each pixel: the first item, the time that items cover,
 * the longest item.  No look-up reads all items.
 */

const LEAF = 16;	/* items that are read one by one */

export class Row {
	/** @begin, @end: Float64Array, in order of time; items must not overlap */
	constructor(begin, end) {
		this.begin = begin;
		this.end = end;
		this.count = begin.length;
		/* made by prepare(): the duration of all items before item i, and a tree of the
		 * longest items */
		this.sums = null;
		this.tree = null;
	}

	/** The first item that ends after @time; the search begins near item @from */
	endingAfter(time, from = 0) {
		return after(this.end, time, from, this.count);
	}

	/** The first item that begins at @time or later */
	beginningAt(time, from = 0) {
		return notBefore(this.begin, time, from, this.count);
	}

	/** ns of [from, to) that items cover */
	busy(from, to) {
		const first = this.endingAfter(from), last = this.beginningAt(to, first);

		if (first >= last)
			return 0;
		this.prepare();
		return this.sums[last] - this.sums[first] - Math.max(0, from - this.begin[first]) -
			Math.max(0, this.end[last - 1] - to);
	}

	prepare() {
		if (this.sums)
			return;
		this.sums = new Float64Array(this.count + 1);
		for (let i = 0; i < this.count; i++)
			this.sums[i + 1] = this.sums[i] + (this.end[i] - this.begin[i]);
		this.leaves = Math.ceil(this.count / LEAF);
		this.tree = new Uint32Array(2 * this.leaves);
		for (let leaf = 0; leaf < this.leaves; leaf++)
			this.tree[this.leaves + leaf] = this.scan(leaf * LEAF, Math.min(this.count, (leaf + 1) * LEAF));
		for (let node = this.leaves - 1; node > 0; node--)
			this.tree[node] = this.longer(this.tree[2 * node], this.tree[2 * node + 1]);
	}

	longer(a, b) {
		return this.end[b] - this.begin[b] > this.end[a] - this.begin[a] ? b : a;
	}

	scan(from, to) {
		let best = from;

		for (let i = from + 1; i < to; i++)
			best = this.longer(best, i);
		return best;
	}

	/** The longest item of [from, to), which is not empty */
	longest(from, to) {
		let left = Math.ceil(from / LEAF), right = Math.floor(to / LEAF), best;

		if (left >= right)
			return this.scan(from, to);
		this.prepare();
		best = this.scan(from, Math.max(from + 1, left * LEAF));
		if (right * LEAF < to)
			best = this.longer(best, this.scan(right * LEAF, to));
		for (left += this.leaves, right += this.leaves; left < right; left >>= 1, right >>= 1) {
			if (left & 1)
				best = this.longer(best, this.tree[left++]);
			if (right & 1)
				best = this.longer(best, this.tree[--right]);
		}
		return best;
	}

	/** The item at @time, or the longest within @reach; -1: none */
	at(time, reach) {
		const i = this.endingAfter(time - reach), to = this.beginningAt(time + reach, i);
		const exact = this.endingAfter(time, i);

		if (exact < this.count && this.begin[exact] <= time)
			return exact;
		/* endingAfter() skips items without a length, so look for beginnings, too */
		const first = notBefore(this.begin, time - reach, 0, this.count);

		return first < to ? this.longest(first, to) : i < to ? this.longest(i, to) : -1;
	}
}

/* The first item of @list above @value: search in growing steps from @from, then by halving */
function after(list, value, from, count) {
	let step = 1, low = from, high = from;

	while (high < count && list[high] <= value) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = Math.min(high, count);
	while (low < high) {
		const middle = (low + high) >>> 1;

		if (list[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function notBefore(list, value, from, count) {
	let step = 1, low = from, high = from;

	while (high < count && list[high] < value) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = Math.min(high, count);
	while (low < high) {
		const middle = (low + high) >>> 1;

		if (list[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Finds the least and greatest of a range of values, without reading all of them */
export class Extremes {
	constructor(values) {
		this.levels = [[values, values]];
		for (let below = values; below.length > LEAF;) {
			const [least, greatest] = this.levels[this.levels.length - 1];
			const count = Math.ceil(least.length / LEAF);
			const min = new Float64Array(count), max = new Float64Array(count);

			for (let i = 0; i < count; i++) {
				const to = Math.min(least.length, (i + 1) * LEAF);

				min[i] = Infinity;
				max[i] = -Infinity;
				for (let k = i * LEAF; k < to; k++) {
					min[i] = Math.min(min[i], least[k]);
					max[i] = Math.max(max[i], greatest[k]);
				}
			}
			this.levels.push([min, max]);
			below = min;
		}
	}

	/** [least, greatest] of [from, to) */
	of(from, to) {
		let low = Infinity, high = -Infinity, level = 0;

		const take = (i) => {
			low = Math.min(low, this.levels[level][0][i]);
			high = Math.max(high, this.levels[level][1][i]);
		};

		for (; from < to; level++, from /= LEAF, to /= LEAF) {
			if (level === this.levels.length - 1 || to - from < 2 * LEAF) {
				while (from < to)
					take(from++);
				break;
			}
			while (from % LEAF)
				take(from++);
			while (to % LEAF)
				take(--to);
		}
		return [low, high];
	}

	get all() {
		const [min, max] = this.levels[this.levels.length - 1];

		return [Math.min(...min), Math.max(...max)];
	}
}
