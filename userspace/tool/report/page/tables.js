// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report's sections: title, notes, chart, table.  A cell shows a rounded number with its unit;
 * data-value and the tooltip have it exactly.
 */
import { bytes, duration, grouped, micro, moment, percent } from './format.js';
import { element, plain } from './element.js';

const FIRST = 20;	/* rows that are shown at first */

/** Parse the report; numbers too long for JavaScript become strings, which BigInt() reads */
export function parseReport(text) {
	return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (token) =>
		token[0] === '"' ? token : `"${token}"`));
}

function numberText(unit, value) {
	switch (unit) {
	case 'ns': return duration(Number(value));
	case 'time': return moment(BigInt(value));
	case 'bytes': return bytes(Number(value));
	case 'ppm': return percent(Number(value));
	case 'micro': return micro(Number(value));
	default: return grouped(value);
	}
}

function compare(a, b) {
	if (a === null || b === null)
		return a === b ? 0 : a === null ? 1 : -1;
	if (typeof a === 'number' && typeof b === 'number')
		return a - b;
	if (/^-?\d+$/.test(a) && /^-?\d+$/.test(b))
		return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
	return String(a).localeCompare(String(b), undefined, { numeric: true });
}

class Table {
	/** @goto: (section, row, column) => show the time of a cell in the timeline; or null */
	constructor(section, goto) {
		this.section = section;
		this.goto = goto;
		this.order = section.rows.map((_, i) => i);
		this.all = section.rows.length <= FIRST + 5;
		this.body = element('tbody');
		this.heads = section.columns.map((column, i) => this.head(column, i));
		this.table = element('table', { class: 'figures', id: `table-${section.id}` },
			element('caption', { class: 'hidden' }, section.title),
			element('thead', {}, element('tr', {}, ...this.heads)), this.body);
		this.more = element('button', { type: 'button', class: 'more', onclick: () => this.showAll() });
		this.box = element('div', { class: 'table' }, this.table);
		this.fill();
	}

	head(column, i) {
		const kind = column.type === 'number' ? 'number' : 'text';

		return element('th', { scope: 'col', class: kind, 'aria-sort': 'none', 'data-column': column.id },
			element('button', { type: 'button', onclick: () => this.sort(i) }, plain(column.title)));
	}

	sort(i) {
		const head = this.heads[i], number = this.section.columns[i].type === 'number';
		const was = head.getAttribute('aria-sort');
		const down = was === 'none' ? number : was === 'ascending';
		const rows = this.section.rows;

		for (const other of this.heads)
			other.setAttribute('aria-sort', 'none');
		head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
		/* unknown values stay at the end in both orders */
		this.order = rows.map((_, k) => k).sort((a, b) => {
			const x = rows[a][i], y = rows[b][i];

			return (down && x !== null && y !== null ? compare(y, x) : compare(x, y)) || a - b;
		});
		this.fill();
	}

	showAll() {
		this.all = true;
		this.fill();
	}

	cell(column, value, row) {
		if (value === null)
			return element('td', { class: column.type, title: 'not known' }, '–');
		if (column.type !== 'number')
			return element('td', { class: 'text' }, plain(String(value)));
		const text = numberText(column.unit, value);
		const cell = element('td', { class: 'number', 'data-value': String(value),
			title: column.unit === 'ns' ? `${grouped(value)} ns` : null });

		if (column.unit === 'time' && this.goto)
			cell.append(element('button', { type: 'button', class: 'link', title: 'Show it in the timeline',
				onclick: () => this.goto(this.section, row, column) }, text));
		else
			cell.append(text);
		if (column.unit === 'ppm')
			cell.style.setProperty('--share', Math.min(100, Math.max(0, Number(value) / 10000)) + '%');
		if (column.unit === 'ppm')
			cell.classList.add('share');
		return cell;
	}

	fill() {
		const { rows, columns } = this.section;
		const shown = this.all ? this.order : this.order.slice(0, FIRST);

		this.body.replaceChildren(...shown.map((r) => element('tr', {},
			...columns.map((column, i) => this.cell(column, rows[r][i], rows[r])))));
		this.more.textContent = `All ${grouped(rows.length)} rows`;
		if (this.all)
			this.more.remove();
		else
			this.box.append(this.more);
	}
}

/* True for a section without rows, and for a series that has only times */
function isEmpty(section) {
	return !section.rows.length || section.kind === 'series' && section.columns.every((one) => one.unit === 'time');
}

function chart(section, charts, report) {
	const box = element('div', { class: 'chart', role: 'img', 'aria-label': `${section.title}, as a chart; the numbers are in the table` });

	/* the box must be in the page before drawing: else it has no width */
	return [box, () => section.kind === 'histogram' ? charts.histogram(box, section) :
		charts.series(box, section, BigInt(report.begin))];
}

/** Add all sections to @place, and links to them to @contents */
export function showReport(report, place, contents, charts, goto) {
	for (const section of report.sections) {
		const id = `section-${section.id}`;
		const box = element('section', { id, class: `part ${section.kind}`, 'aria-labelledby': `${id}-title` },
			element('h2', { id: `${id}-title` }, section.title));

		place.append(box);
		contents.append(element('a', { href: `#${id}` }, section.title));
		for (const note of section.notes)
			box.append(element('p', { class: 'note' }, plain(note)));
		if (isEmpty(section)) {
			if (!section.notes.length)
				box.append(element('p', { class: 'note' }, 'Nothing to show.'));
			continue;
		}
		const table = new Table(section, goto);

		if (section.kind === 'table') {
			box.append(table.box);
			continue;
		}
		const [figure, draw] = chart(section, charts, report);

		box.append(figure, element('details', { class: 'numbers' }, element('summary', {}, 'Numbers'), table.box));
		draw();
	}
}
