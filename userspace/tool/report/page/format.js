// SPDX-License-Identifier: GPL-2.0-only
/*
 * Format numbers: rounded, with a unit.  The exact number is in a tooltip, the details or a table.
 */

const THIN = '\u202f';

/* Round as C's printf(), so that numbers equal those of "tracebuf report": exactly half goes to the
 * even digit */
function fixed(value, places) {
	const scaled = value * 10 ** places;
	const low = Math.floor(scaled);

	if (scaled - low === 0.5 && Number.isInteger(value * 1024))
		return ((low % 2 ? low + 1 : low) / 10 ** places).toFixed(places);
	return value.toFixed(places);
}

function scaled(value, step, units) {
	let unit = 0, number = value;

	while (unit + 1 < units.length && Math.abs(number) >= step) {
		number /= step;
		unit++;
	}
	return `${unit ? fixed(number, 2) : value} ${units[unit]}`;
}

/** 1234567 as "1.23 ms" */
export function duration(ns) {
	return scaled(Math.round(ns), 1000, ['ns', 'µs', 'ms', 's']);
}

/** 1234567 as "1 234 567", with thin spaces */
export function grouped(number) {
	return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** A time as in "tracebuf print": seconds with nine decimals; @ns is a BigInt */
export function moment(ns) {
	const sign = ns < 0n ? '-' : '';
	const value = ns < 0n ? -ns : ns;

	return sign + (value / 1000000000n) + '.' + String(value % 1000000000n).padStart(9, '0');
}

/** ns since the beginning as seconds, with as many digits as steps of @step need */
export function offset(ns, step) {
	const places = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(step, 1)) + 1e-9)));

	return (ns / 1e9).toFixed(places) + ' s';
}

export function bytes(value) {
	return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}

/** Millionths as percent */
export function percent(ppm) {
	return fixed(ppm / 10000, 2) + '%';
}

/** Millionths of anything */
export function micro(value) {
	return fixed(value / 1000000, 3);
}

/** Cut @text to at most @most characters */
export function cut(text, most) {
	return text.length <= most ? text : most < 2 ? '' : text.slice(0, most - 1) + '…';
}
