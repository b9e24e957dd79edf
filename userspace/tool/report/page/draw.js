// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draw the lanes.  Slices narrower than two pixels share a bar of one pixel: its height is the
 * share of the pixel's time that they cover, its colour that of the longest slice that begins
 * there.  So the cost of a frame depends on the number of pixels, not of slices.
 */
import { cut, offset } from './format.js';
import { Extremes } from './row.js';

const RULER = 24;
const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const SMALL = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class Drawing {
	constructor(paint, model, lanes, viewport) {
		Object.assign(this, { paint, model, lanes, viewport });
		this.scroll = 0;
		this.selected = null;	/* { row, index } */
		this.hovered = null;
		this.range = null;	/* [from, to] */
		this.matching = null;	/* by string: true if the search finds it */
		this.colours = null;
		this.width = this.height = 0;
		this.times = [];
	}

	/** @scale: device pixels for a CSS pixel, if not those of the screen */
	resize(width, height, scale) {
		this.width = width;
		this.height = height;
		this.gutter = width < 640 ? 112 : 190;
		this.paint.resize(width, height, scale);
	}

	/** Convert CSS pixels to ns and back */
	timeAt(x) {
		return this.viewport.from + (x - this.gutter) / (this.width - this.gutter) * this.viewport.span;
	}

	xOf(time) {
		return this.gutter + (time - this.viewport.from) / this.viewport.span * (this.width - this.gutter);
	}

	get ruler() {
		return RULER;
	}

	/* ---- a frame ---- */

	draw() {
		const begun = performance.now();
		const paint = this.paint, colours = this.colours, scale = paint.scale;

		this.left = Math.round(this.gutter * scale);
		this.perPixel = this.viewport.span / Math.max(1, paint.width - this.left);
		this.texts = [];
		paint.clear(colours.ground);
		this.drawOutside();
		for (let i = this.lanes.at(this.scroll); i < this.lanes.list.length; i++) {
			const lane = this.lanes.list[i];
			const top = lane.y - this.scroll + RULER;

			if (top > this.height)
				break;
			this.drawLane(lane, Math.round(top * scale), Math.round((top + lane.height) * scale));
		}
		this.drawRuler();
		paint.show();
		this.drawOver();
		this.times.push(performance.now() - begun);
		if (this.times.length > 1000)
			this.times.shift();
	}

	pixel(time) {
		return this.left + Math.floor((time - this.viewport.from) / this.perPixel);
	}

	/* Shade the time before and after the trace, and the part without a timeline */
	drawOutside() {
		const paint = this.paint, { out } = this.colours;
		const begin = this.pixel(0), end = this.pixel(this.model.length), last = this.pixel(this.model.cut);

		paint.fill(this.left, 0, begin - this.left, paint.height, out);
		paint.fill(Math.max(this.left, end), 0, paint.width, paint.height, out);
		if (this.model.leftOut)
			paint.fill(Math.max(this.left, last), 0, Math.max(1, end - Math.max(this.left, last)), paint.height, out);
	}

	drawLane(lane, top, bottom) {
		const paint = this.paint, colours = this.colours, scale = paint.scale;

		if (lane.kind === 'heading') {
			paint.fill(0, top, paint.width, bottom - top, colours.band);
			paint.fill(0, bottom - 1, paint.width, 1, colours.line);
			return;
		}
		if (lane.lost)
			this.drawLost(lane.lost, top, bottom - top, colours.lost);
		for (const one of lane.strips)
			for (const row of one.rows)
				this.drawStrip(one, row, top + Math.round(one.top * scale), Math.round(one.height * scale));
		paint.fill(0, top, this.left, bottom - top, colours.label);
		paint.fill(0, bottom - 1, paint.width, 1, colours.line);
		paint.fill(this.left - 1, top, 1, bottom - top, colours.line);
	}

	drawStrip(one, row, top, height) {
		const c = this.colours;

		switch (one.kind) {
		case 'state':
			this.drawState(row, top, height);
			break;
		case 'irq':
			this.drawRow(row, top, height, () => c.irq);
			break;
		case 'softirq':
			this.drawRow(row, top, height, () => c.softirq);
			break;
		case 'tick':
			this.drawTicks(row, top, height);
			break;
		case 'lost':
			this.drawLost(row, top, height, c.lost);
			break;
		case 'counter':
			this.drawCounter(row, top, height);
			break;
		case 'run':
			if (row.kind === 'unknown')
				this.drawRow(row, top, height, () => c.unknown, true);
			else
				this.drawRow(row, top, height, null);
			break;
		default:
			this.drawRow(row, top, height, null);
		}
	}

	drawState(row, top, height) {
		const colour = this.colours[row.state];
		const share = { running: 1, runnable: 0.6, uninterruptible: 0.6, unknown: 0.6, sleeping: 0.16 }[row.state];
		const part = Math.max(1, Math.round(height * share));
		const middle = row.state === 'sleeping' ? Math.round((height - part) / 2) : height - part;

		if (row.state === 'running')
			this.drawRow(row, top, height, null);
		else
			this.drawRow(row, top + middle, part, () => colour, row.state === 'unknown');
	}

	/* ---- rows ---- */

	colourOf(row, index) {
		if (row.kind === 'state') {
			const [run, i] = this.model.origin(row, index);

			return this.matching && !this.matching[run.names[i]] ?
				this.colours.fade(this.colours.running) : this.colours.running;
		}
		const name = row.names[index];

		return this.matching && !this.matching[name] ? this.colours.faded[name] : this.colours.named[name];
	}

	nameAt(row, index) {
		if (row.kind !== 'state')
			return row.names[index];
		const [run, i] = this.model.origin(row, index);

		return run.names[i];
	}

	doubtful(row, index) {
		const [origin, i] = this.model.origin(row, index);

		return origin.doubt && origin.doubt[i];
	}

	/* True if the search finds an item from @from to before @to */
	found(row, from, to) {
		if (!this.matching || (row.kind === 'state' && row.state !== 'running'))
			return false;
		for (let i = from; i < to; i++)
			if (this.matching[this.nameAt(row, i)])
				return true;
		return false;
	}

	/* For all visible items: call @wide for each with two pixels or more, @narrow for those
	 * that share a pixel */
	each(row, wide, narrow) {
		const { from, to } = this.viewport, perPixel = this.perPixel, left = this.left;
		const begin = row.begin, end = row.end, count = row.count;
		let i = row.endingAfter(from - perPixel);

		/* include items without length that begin at the left edge */
		while (i > 0 && end[i - 1] === begin[i - 1] && begin[i - 1] >= from)
			i--;
		while (i < count && begin[i] < to) {
			const x = Math.max(left, left + Math.floor((begin[i] - from) / perPixel));

			if (end[i] - begin[i] >= 2 * perPixel) {
				wide(i, x, Math.max(x + 1, left + Math.floor((Math.min(end[i], to + perPixel) - from) / perPixel)));
				i++;
				continue;
			}
			const edge = from + (x + 1 - left) * perPixel;
			let next = row.beginningAt(edge, i + 1);

			if (next > i + 1 && end[next - 1] - begin[next - 1] >= 2 * perPixel)
				next--;
			narrow(i, next, x);
			i = next;
		}
	}

	drawRow(row, top, height, colour, hatched = false) {
		const paint = this.paint;
		const floor = Math.min(height, Math.max(2, Math.round(height * 0.2)));
		const labels = height >= 11 * paint.scale;

		if (top > paint.height || top + height < 0)
			return;
		row.prepare();
		const sums = row.sums;

		this.each(row, (i, x, right) => {
			const own = colour ? (this.matching && !this.found(row, i, i + 1) ? this.colours.fade(colour()) : colour()) :
				this.colourOf(row, i);

			/* a gap keeps adjacent items apart */
			const wide = right - x > 3 ? right - x - 1 : right - x;

			if (hatched) {
				paint.hatch(x, top, wide, height, own);
				return;
			}
			paint.fill(x, top, wide, height, own);
			if (wide > 4 && this.doubtful(row, i))
				paint.hatch(x, top, wide, height, this.colours.ground);
			if (labels && wide > 26 * paint.scale)
				this.texts.push([row, i, x / paint.scale, wide / paint.scale, top / paint.scale, height / paint.scale]);
		}, (i, next, x) => {
			const covered = (sums[next] - sums[i]) / this.perPixel;
			const tall = Math.max(floor, Math.min(height, Math.round(height * covered)));
			let own;

			if (this.found(row, i, next))
				own = this.colours.hit;
			else
				own = colour ? (this.matching ? this.colours.fade(colour()) : colour()) :
					this.colourOf(row, next === i + 1 ? i : row.longest(i, next));
			paint.column(x, top + height - tall, tall, own);
		});
	}

	drawTicks(row, top, height) {
		const { event, hit } = this.colours;
		const plain = this.matching ? this.colours.fade(event) : event;
		const wide = Math.max(1, Math.round(this.paint.scale));

		this.each(row, () => 0, (i, next, x) =>
			this.paint.fill(x, top, wide, height, this.found(row, i, next) ? hit : plain));
	}

	drawLost(row, top, height, colour) {
		const paint = this.paint, edge = Math.max(1, Math.round(paint.scale));

		this.each(row, (i, x, right) => {
			paint.hatch(x, top, right - x, height, colour);
			paint.fill(x, top, edge, height, colour);
			paint.fill(right - edge, top, edge, height, colour);
		}, (i, next, x) => paint.fill(x, top, 2 * edge, height, colour));
	}

	drawCounter(row, top, height) {
		const { from, to } = this.viewport, perPixel = this.perPixel, paint = this.paint;

		row.extremes = row.extremes || new Extremes(row.values.map((v) => Number.isFinite(v) ? v : 0));
		let [least, greatest] = row.extremes.all;

		least = Math.min(0, least);
		greatest = greatest > least ? greatest : least + 1;
		const y = (value) => top + height - 1 - Math.round((value - least) / (greatest - least) * (height - 2));
		let i = Math.max(0, row.beginningAt(from) - 1), before = null;

		while (i < row.count && row.begin[i] < to) {
			const x = Math.max(this.left, this.pixel(row.begin[i]));
			const next = row.beginningAt(Math.max(from, from + (x + 1 - this.left) * perPixel), i + 1);
			const [low, high] = row.extremes.of(i, next);
			const until = next < row.count ? Math.min(paint.width, this.pixel(row.begin[next])) :
				Math.min(paint.width, this.pixel(this.model.cut));
			const last = y(row.values[next - 1]);
			const span = [y(high), y(low)];

			if (before !== null) {
				span[0] = Math.min(span[0], before);
				span[1] = Math.max(span[1], before);
			}
			paint.fill(x, span[0], 1, span[1] - span[0] + 1, this.colours.counter);
			paint.fill(x, last, until - x, Math.max(1, Math.round(paint.scale)), this.colours.counter);
			before = last;
			i = next;
		}
		this.texts.push([row, -1, this.gutter + 4, 300, top / paint.scale, 12]);
	}

	/* ---- the ruler ---- */

	/* The distance of labels: 1, 2 or 5 times a power of ten ns */
	step() {
		const least = this.viewport.span / Math.max(1, (this.width - this.gutter) / 110);
		const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));

		return [1, 2, 5, 10].map((n) => n * power).find((s) => s >= least);
	}

	drawRuler() {
		const paint = this.paint, colours = this.colours, height = Math.round(RULER * paint.scale);

		const cut = Math.max(this.left, this.pixel(this.model.cut));

		paint.fill(0, 0, paint.width, height, colours.label);
		if (this.model.leftOut)
			paint.hatch(cut, 0, this.pixel(this.model.length) - cut, height, colours.line);
		this.drawLost(this.model.lost, height - Math.round(6 * paint.scale), Math.round(6 * paint.scale), colours.lost);
		paint.fill(0, height - 1, paint.width, 1, colours.line);
		const step = this.step();

		for (let time = Math.ceil(this.viewport.from / step) * step; time < this.viewport.to; time += step)
			paint.fill(this.pixel(time), height - Math.round(7 * paint.scale), 1, Math.round(7 * paint.scale), colours.soft);
	}

	/* ---- texts and marks over the picture ---- */

	drawOver() {
		const context = this.paint.context, colours = this.colours, scale = this.paint.scale;

		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.textBaseline = 'middle';
		this.drawNames(context);
		context.save();
		context.beginPath();
		context.rect(this.gutter, RULER, this.width - this.gutter, this.height - RULER);
		context.clip();
		this.drawTexts(context);
		this.drawMarked(context, this.hovered, 1);
		this.drawMarked(context, this.selected, 2);
		context.restore();
		this.drawRange(context);
		this.drawTimes(context);
		context.strokeStyle = colours.css.line;
		context.setTransform(1, 0, 0, 1, 0, 0);
	}

	drawTexts(context) {
		context.font = SMALL;
		this.advance = this.advance || context.measureText('abcdefghijklmnopqrstuvwxyz_0123456789').width / 37;
		for (const [row, i, x, width, top, height] of this.texts) {
			const counter = i < 0;
			const from = Math.max(x, this.gutter), room = x + width - from - 6;
			const text = counter ? this.model.strings[row.name] : row.kind === 'state' ?
				(row.state === 'running' ? 'CPU ' + this.model.origin(row, i)[0].id : '') : this.model.name(row, i);
			const shown = cut(text, Math.floor(room / this.advance));

			/* clear the hatching behind the text */
			if (shown && !counter && this.doubtful(row, i)) {
				context.fillStyle = cssOf(this.colourOf(row, i));
				context.fillRect(from + 1, top, shown.length * this.advance + 4, height);
			}
			context.fillStyle = counter || (this.matching && !this.matching[this.nameAt(row, i)]) ?
				this.colours.css.soft : row.kind === 'state' ?
				(this.colours.dark ? this.colours.css.inside : '#ffffff') : this.colours.css.inside;
			if (shown)
				context.fillText(shown, from + 3, top + height / 2 + 0.5);
		}
	}

	drawNames(context) {
		const css = this.colours.css;

		context.save();
		context.beginPath();
		context.rect(0, RULER, this.width, this.height - RULER);
		context.clip();
		for (let i = this.lanes.at(this.scroll); i < this.lanes.list.length; i++) {
			const lane = this.lanes.list[i], top = lane.y - this.scroll + RULER;

			if (top > this.height)
				break;
			if (lane.kind === 'heading')
				this.drawHeading(context, lane, top, css);
			else
				this.drawName(context, lane, top, css);
		}
		context.restore();
	}

	drawHeading(context, lane, top, css) {
		const x = 8 + 10 * lane.level;

		context.font = '600 ' + SMALL;
		context.textAlign = 'left';
		context.fillStyle = css.text;
		context.fillText(lane.closed ? '▸' : '▾', x - 2, top + lane.height / 2);
		context.fillText(plainCut(context, lane.name, this.gutter - 24), x + 10, top + lane.height / 2);
		const used = context.measureText(plainCut(context, lane.name, this.gutter - 24)).width;

		context.font = SMALL;
		context.fillStyle = css.soft;
		context.fillText([lane.title, lane.share].filter(Boolean).join('   '), x + 18 + used, top + lane.height / 2);
	}

	drawName(context, lane, top, css) {
		const x = lane.inside ? 20 : 10, narrow = this.gutter < 150;
		const two = lane.height >= 38 && lane.share;
		const y = two ? top + lane.height / 2 - 7 : top + lane.height / 2;

		context.font = SMALL;
		context.textAlign = 'right';
		context.fillStyle = css.soft;
		const right = narrow ? '' : lane.title;
		const used = right ? context.measureText(right).width + 8 : 0;

		context.fillText(right, this.gutter - 8, y);
		context.textAlign = 'left';
		context.font = FONT;
		context.fillStyle = css.text;
		context.fillText(plainCut(context, lane.name, this.gutter - x - 8 - used), x, y);
		if (two) {
			context.font = SMALL;
			context.fillStyle = css.soft;
			context.fillText(narrow ? lane.title : lane.share, x, y + 14);
		}
	}

	drawMarked(context, chosen, width) {
		const lane = chosen && this.lanes.list.find((one) => one.strips && (one.lost === chosen.row ||
			one.strips.some((s) => s.rows.includes(chosen.row))));

		if (!lane)
			return;
		const one = lane.strips.find((s) => s.rows.includes(chosen.row)) || { top: 0, height: lane.height };
		const x = this.xOf(chosen.row.begin[chosen.index]), right = this.xOf(chosen.row.end[chosen.index]);

		if (right < this.gutter || x > this.width)
			return;
		const left = Math.max(x, this.gutter - 2), wide = Math.min(right, this.width + 2) - left;

		context.lineWidth = width;
		context.strokeStyle = this.colours.css.select;
		context.strokeRect(left - 0.5, lane.y - this.scroll + RULER + one.top - 1, Math.max(2, wide), one.height + 2);
	}

	drawRange(context) {
		if (!this.range)
			return;
		const left = Math.max(this.gutter, this.xOf(this.range[0])), right = Math.min(this.width, this.xOf(this.range[1]));

		if (right < this.gutter || left > this.width)
			return;
		context.fillStyle = this.colours.css.mark;
		context.globalAlpha = 0.12;
		context.fillRect(left, 0, right - left, this.height);
		context.globalAlpha = 1;
		context.fillRect(left, 0, 1, this.height);
		context.fillRect(right - 1, 0, 1, this.height);
	}

	drawTimes(context) {
		const step = this.step(), y = RULER / 2 - 2;

		context.font = SMALL;
		context.textAlign = 'center';
		context.fillStyle = this.colours.css.soft;
		for (let time = Math.ceil(this.viewport.from / step) * step; time < this.viewport.to; time += step) {
			const text = offset(Math.abs(time) < step / 2 ? 0 : time, step), x = this.xOf(time);
			const half = context.measureText(text).width / 2;

			if (x - half > this.gutter && x + half < this.width)
				context.fillText(text, x, y);
		}
		context.textAlign = 'left';
		context.fillText(this.gutter < 150 ? 'offset' : 'since the beginning', 10, y + 2);
		if (this.model.leftOut && this.xOf(this.model.cut) < this.width - 60) {
			context.fillStyle = this.colours.css.text;
			context.fillText('not shown', Math.max(this.gutter, this.xOf(this.model.cut)) + 6, RULER + 10);
		}
	}

	/* ---- finding items ---- */

	/** Return { lane, row, index } at CSS pixels; without row where no item is */
	hit(x, y) {
		const lane = y < RULER ? null : this.lanes.list[this.lanes.at(y - RULER + this.scroll)];

		if (!lane)
			return {};
		const inside = y - RULER + this.scroll - lane.y, time = this.timeAt(x);
		const reach = 2.5 * this.viewport.span / Math.max(1, this.width - this.gutter);

		if (lane.kind === 'heading' || x < this.gutter)
			return { lane };
		for (const one of lane.strips) {
			if (inside < one.top - 1 || inside > one.top + one.height)
				continue;
			for (const row of [...one.rows].reverse()) {
				const index = one.kind === 'counter' ? row.beginningAt(time + reach) - 1 : row.at(time, reach);

				if (index >= 0)
					return { lane, row, index };
			}
		}
		if (lane.lost) {
			const index = lane.lost.at(time, reach);

			if (index >= 0)
				return { lane, row: lane.lost, index };
		}
		return { lane };
	}
}

const cssOf = (colour) => `rgb(${colour & 255} ${colour >>> 8 & 255} ${colour >>> 16 & 255})`;

function plainCut(context, text, room) {
	const advance = context.measureText(text).width / Math.max(1, text.length);

	return cut(text, Math.max(1, Math.floor(room / Math.max(1, advance))));
}
