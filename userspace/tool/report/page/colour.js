// SPDX-License-Identifier: GPL-2.0-only
/*
 * Colours.  A task has the same colour everywhere.  States differ in colours that users can tell
 * apart without seeing red and green, and in height.
 */

function hash(text) {
	let value = 2166136261;

	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	value ^= value >>> 15;
	value = Math.imul(value, 0x85ebca6b);
	return (value ^ value >>> 13) >>> 0;
}

/* 0xAABBGGRR, as in the memory of a canvas */
const pack = (r, g, b) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

function hex(text) {
	const value = parseInt(text.slice(1), 16);

	return pack(value >> 16, value >> 8 & 255, value & 255);
}

/* Convert OKLCH, in which hues of one lightness look equally light, to sRGB */
function oklch(lightness, chroma, hue) {
	const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
	const curve = (x) => Math.round(255 * Math.min(1, Math.max(0,
		x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)));

	return pack(curve(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
		curve(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
		curve(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

function mix(a, b, share) {
	const part = (shift) => Math.round((a >>> shift & 255) * (1 - share) + (b >>> shift & 255) * share);

	return pack(part(0), part(8), part(16));
}

const LIGHT = {
	ground: '#ffffff', label: '#f6f7f8', band: '#f1f3f5', line: '#dfe3e7', text: '#1c2024',
	soft: '#626b74', inside: '#14181b', lost: '#d55e00', mark: '#0b62d6', select: '#111111', hit: '#c0269c',
	running: '#2b7fb8', runnable: '#e69f00', uninterruptible: '#a6447c', sleeping: '#c3cad1',
	unknown: '#b4aca2', irq: '#c6452f', softirq: '#d99a2b', event: '#77818b', counter: '#4c6a88', out: '#e9ecef',
};
const DARK = {
	ground: '#14171a', label: '#1a1e22', band: '#1c2126', line: '#2b3238', text: '#e3e7ea',
	soft: '#929ca6', inside: '#0c0e10', lost: '#f0803c', mark: '#6aa9ff', select: '#ffffff', hit: '#ff7ad9',
	running: '#4da3dc', runnable: '#e9ad2b', uninterruptible: '#cf7fb0', sleeping: '#48525b',
	unknown: '#6d665d', irq: '#e8705b', softirq: '#dba54a', event: '#8d98a3', counter: '#8fb0d0', out: '#0e1113',
};

export class Colours {
	/** @causes: of --why, by string: { cause, tid } */
	constructor({ strings, causes, threads }, dark) {
		const names = dark ? DARK : LIGHT;

		this.dark = dark;
		this.css = names;
		for (const [name, text] of Object.entries(names))
			this[name] = hex(text);
		/* tasks that differ only in numbers at the end (kworker/0:1, nginx-3) get the same
		 * colour */
		const byName = (text) => {
			const value = hash(text.replace(/[\d:/_-]+\w?$/, ''));
			const hue = value % 30 * 12, level = (value >>> 8) % 3;

			return dark ? oklch(0.66 + 0.05 * level, 0.095, hue) : oklch(0.74 + 0.05 * level, 0.10, hue);
		};
		const known = { waits: this.runnable, irq: this.irq, interrupt: this.irq, softirq: this.softirq,
			unknown: this.unknown };

		this.named = Uint32Array.from(strings, byName);
		for (const [string, { cause, tid }] of causes) {
			const thread = tid && threads.get(Number(tid));

			this.named[string] = thread ? byName(thread.name) : known[cause] || this.named[string];
		}
		this.faded = this.named.map((colour) => mix(colour, this.ground, 0.8));
		this.fade = (colour) => mix(colour, this.ground, 0.8);
	}
}
