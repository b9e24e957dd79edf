// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms and series, drawn by uPlot.  A table below each has its numbers.
 */
/* global uPlot */
import { bytes, duration, grouped, micro, offset, percent } from './format.js';
import { element, plain } from './element.js';

const HEIGHT = 190;
const HUES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a7a00', '#7a6fc2'];
const HUES_DARK = ['#4da3dc', '#e9ad2b', '#35c39a', '#dd93bd', '#8fd0f5', '#f0803c', '#d6c636', '#a79cf0'];
const SERIES_MAX = 8;	/* more lines could not be told apart */

/** Format a value of a unit */
export function shown(unit, value) {
	switch (unit) {
	case 'ns': return duration(value);
	case 'bytes': return bytes(value);
	case 'ppm': return percent(value);
	case 'micro': return micro(value);
	default: return grouped(value);
	}
}

/* Labels for shares up to @most: 0, 0.25 ... 1, or in larger steps */
function quarters(most) {
	const step = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((one) => most / one <= 5.5) || most / 4;

	return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

export class Charts {
	constructor(theme) {
		this.theme = theme;
		this.list = [];
		new ResizeObserver(() => this.resize()).observe(document.getElementById('report'));
	}

	css(name) {
		return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	}

	/* Colours are functions, so that redraw() is enough after a change of the theme */
	axis(more) {
		return { stroke: () => this.css('--soft'), grid: { stroke: () => this.css('--line'), width: 1 },
			ticks: { stroke: () => this.css('--line'), width: 1, size: 4 },
			font: '11px system-ui, sans-serif', ...more };
	}

	hue(i) {
		return () => (this.theme.dark ? HUES_DARK : HUES)[i % HUES.length];
	}

	add(box, options, data) {
		const chart = new uPlot({ width: this.width(box), height: HEIGHT, ...options }, data, box);

		this.list.push([chart, box]);
		return chart;
	}

	width(box) {
		return Math.max(240, box.clientWidth || document.getElementById('report').clientWidth - 8);
	}

	resize(wanted = null) {
		for (const [chart, box] of this.list)
			chart.setSize({ width: wanted || this.width(box), height: HEIGHT });
	}

	redraw() {
		for (const [chart] of this.list)
			chart.redraw(false, true);
	}

	/* Buckets of equal width, side by side */
	histogram(box, section) {
		const at = (id) => section.columns.findIndex((column) => column.id === id);
		const from = at('from'), to = at('to'), count = at('count'), unit = section.columns[from].unit;
		const rows = section.rows, indices = rows.map((_, i) => i);
		const fill = () => this.hue(0)() + 'cc';

		this.add(box, {
			legend: { live: true },
			cursor: { y: false, drag: { x: false, y: false } },
			scales: { x: { time: false, range: [-0.6, rows.length - 0.4] }, y: { range: (u, low, high) => [0, high * 1.05 || 1] } },
			axes: [
				this.axis({ values: (u, splits) => splits.map((i) => rows[i] ? shown(unit, Number(rows[i][from])) : ''),
					splits: () => indices.filter((i) => i % Math.ceil(rows.length / Math.max(3, this.width(box) / 80)) === 0),
					grid: { show: false }, size: 30 }),
				this.axis({ size: 64, values: (u, splits) => splits.map((v) => Number.isInteger(v) ? grouped(v) : '') }),
			],
			series: [
				{ label: section.columns[from].title, value: (u, i) => rows[i] ?
					`${shown(unit, Number(rows[i][from]))} to ${shown(unit, Number(rows[i][to]))}` : '–' },
				{ label: section.columns[count].title, stroke: this.hue(0), fill, width: 0,
					paths: uPlot.paths.bars({ size: [0.92, 60] }), points: { show: false },
					value: (u, v) => v === null ? '–' : grouped(v) },
			],
		}, [indices, rows.map((row) => Number(row[count]))]);
	}

	/* @begin: of the report.  Unknown values are gaps */
	series(box, section, begin) {
		const time = section.columns.findIndex((column) => column.unit === 'time');
		const others = section.columns.map((column, i) => [column, i]).filter(([column, i]) =>
			i !== time && column.type === 'number').slice(0, SERIES_MAX);
		const unit = others[0][0].unit;
		const x = section.rows.map((row) => Number(BigInt(row[time]) - begin));
		const share = unit === 'ppm' ? 1e6 : 0;
		const value = (v) => share ? Math.round(100 * v / share) + ' %' : shown(unit, v);

		this.add(box, {
			cursor: { y: false, drag: { x: false, y: false } },
			scales: { x: { time: false }, y: { range: (u, low, high) => [0, share ? Math.max(share, high || 0) : high * 1.05 || 1] } },
			axes: [
				this.axis({ values: (u, splits, i, space, step) => splits.map((v) => offset(v, step)), space: 90, size: 30 }),
				this.axis({ size: 64, values: (u, splits) => splits.map(value),
					...(share ? { splits: (u, i, low, high) => quarters(high / share).map((part) => part * share) } : {}) }),
			],
			series: [{ label: 'time', value: (u, v) => v === null ? '–' : offset(v, 1e6) },
				...others.map(([column], k) => ({ label: plain(column.title), stroke: this.hue(k), width: 1.5,
					points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }),
					value: (u, v) => v === null || v === undefined ? '–' :
						shown(column.unit, v) }))],
		}, [x, ...others.map(([, i]) => section.rows.map((row) => row[i] === null ? null : Number(row[i])))]);
		const more = section.columns.length - 1 - others.length;

		if (more > 0)
			box.append(element('p', { class: 'soft' }, `The table has ${more} more.`));
	}
}
