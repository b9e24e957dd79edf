// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpack the timeline, as timeline.h describes it: base64, deflate, a JSON text, columns.
 */
import { plain } from './element.js';

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const data = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		data[i] = binary.charCodeAt(i);
	return data;
}

async function inflate(data) {
	const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate-raw'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers of seven bits a byte */
export class Reader {
	constructor(data, at = 0) {
		this.data = data;
		this.at = at;
	}

	/* exact up to 2^53: enough for times and indices */
	number() {
		const data = this.data;
		let byte = data[this.at++], value = byte & 0x7f, scale = 128;

		while (byte & 0x80) {
			byte = data[this.at++];
			value += (byte & 0x7f) * scale;
			scale *= 128;
		}
		return value;
	}

	signed() {
		const value = this.number();

		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	/* exact for all 64 bits */
	big() {
		let value = 0n, shift = 0n, byte;

		do {
			byte = this.data[this.at++];
			value |= BigInt(byte & 0x7f) << shift;
			shift += 7n;
		} while (byte & 0x80);
		return value;
	}

	bigSigned() {
		const value = this.big();

		return value & 1n ? -(value >> 1n) - 1n : value >> 1n;
	}

	skip() {
		while (this.data[this.at++] & 0x80)
			;
	}
}

const NONE = 0, UNSIGNED = 1, SIGNED = 2, HEX = 3, TEXT = 4, DOUBLE = 5, NAMED = 6;

/** Details of items, read on request */
export class Details {
	constructor(data, count, shapes, strings) {
		this.reader = new Reader(data);
		this.count = count;
		this.shapes = shapes;
		this.strings = strings;
		this.offsets = null;
	}

	skipOne() {
		for (const [, kind] of this.shapes[this.reader.number()]) {
			if (kind === DOUBLE)
				this.reader.at += 8;
			else if (kind !== NONE)
				this.reader.skip();
			if (kind === NAMED)
				this.reader.skip();
		}
	}

	/* Find the offsets of all items, at the first request for a row */
	find() {
		this.offsets = new Uint32Array(this.count);
		this.reader.at = 0;
		for (let i = 0; i < this.count; i++) {
			this.offsets[i] = this.reader.at;
			this.skipOne();
		}
	}

	value(kind) {
		const reader = this.reader;

		switch (kind) {
		case UNSIGNED: return String(reader.big());
		case SIGNED: return String(reader.bigSigned());
		case HEX: return '0x' + reader.big().toString(16);
		case TEXT: return this.strings[reader.number()];
		case DOUBLE:
			reader.at += 8;
			return String(new DataView(reader.data.buffer, reader.data.byteOffset + reader.at - 8, 8)
				.getFloat64(0, true));
		case NAMED: {
			const number = String(reader.bigSigned());

			return `${number} (${this.strings[reader.number()]})`;
		}
		default: return '?';
		}
	}

	/** [[name, text], ...] of item @index */
	of(index) {
		if (!this.offsets)
			this.find();
		this.reader.at = this.offsets[index];
		return this.shapes[this.reader.number()].map(([name, kind]) =>
			[this.strings[name], this.value(kind)]);
	}
}

function numbers(data, count, type, signed = false) {
	const reader = new Reader(data);
	const values = new type(count);

	for (let i = 0; i < count; i++)
		values[i] = signed ? reader.signed() : reader.number();
	return values;
}

/* Read begin and end, ns since the trace began, and doubt: 0 whole, 1 events are missing, 2 no end
 * in the trace, 3 no beginning */
function times(row, data) {
	const reader = new Reader(data);
	let last = 0;

	row.begin = new Float64Array(row.count);
	row.end = new Float64Array(row.count);
	row.doubt = new Uint8Array(row.count);
	for (let i = 0; i < row.count; i++) {
		const begin = last + reader.signed();
		const length = reader.number();

		row.begin[i] = begin;
		row.doubt[i] = length % 4;
		row.end[i] = last = begin + Math.floor(length / 4);
	}
}

function unpackRow(row, columns, packed) {
	times(row, columns[0]);
	row.names = numbers(columns[1], row.count, Uint32Array);
	if (row.kind === 'run') {
		row.tid = numbers(columns[2], row.count, Uint32Array);
		row.state = numbers(columns[3], row.count, Uint32Array);
		row.waited = numbers(columns[4], row.count, Float64Array);
		row.waker = numbers(columns[5], row.count, Float64Array);
		row.prio = numbers(columns[6], row.count, Float64Array, true);
	} else {
		row.details = new Details(columns[2], row.count, packed.shapes, packed.strings);
	}
	if (row.kind === 'counter')
		row.values = new Float64Array(columns[3].slice().buffer);
}

/** Unpack @text, which is base64 */
export async function unpack(text) {
	const data = await inflate(fromBase64(text.trim()));
	const length = new DataView(data.buffer).getUint32(0, true);
	const packed = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
	let at = 4 + length;

	packed.strings = packed.strings.map(plain);
	packed.shapes = packed.shapes.map((list) => list.reduce((shape, value, i) => {
		if (i % 2)
			shape[shape.length - 1].push(value);
		else
			shape.push([value]);
		return shape;
	}, []));
	for (const row of packed.rows) {
		unpackRow(row, row.columns.map((bytes) => data.subarray(at, at += bytes)), packed);
		delete row.columns;
	}
	return packed;
}
