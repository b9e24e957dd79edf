// SPDX-License-Identifier: GPL-2.0-only
/*
 * A picture in memory, which is filled with tens of thousands of rectangles in each frame and then
 * copied to a canvas.  Texts are drawn on the canvas.
 */

export class Paint {
	constructor(canvas) {
		this.canvas = canvas;
		this.context = canvas.getContext('2d', { alpha: false });
		this.width = this.height = 0;
		this.scale = 1;
	}

	/** @width, @height: of the canvas in CSS pixels; @scale: device pixels for each */
	resize(width, height, scale = Math.max(1, window.devicePixelRatio || 1)) {
		const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));

		if (w === this.width && h === this.height)
			return;
		this.scale = scale;
		this.width = this.canvas.width = w;
		this.height = this.canvas.height = h;
		this.image = new ImageData(w, h);
		this.pixels = new Uint32Array(this.image.data.buffer);
	}

	clear(colour) {
		this.pixels.fill(colour);
	}

	/** Fill a rectangle of device pixels; parts outside the canvas are left out */
	fill(x, y, width, height, colour) {
		const left = Math.max(0, x), right = Math.min(this.width, x + width);
		const bottom = Math.min(this.height, y + height);

		if (left >= right)
			return;
		for (let line = Math.max(0, y); line < bottom; line++)
			this.pixels.fill(colour, line * this.width + left, line * this.width + right);
	}

	/** Fill a column of one pixel, faster than fill() */
	column(x, y, height, colour) {
		if (x < 0 || x >= this.width)
			return;
		const pixels = this.pixels, bottom = Math.min(this.height, y + height);

		for (let line = Math.max(0, y), at = line * this.width + x; line < bottom; line++, at += this.width)
			pixels[at] = colour;
	}

	/** Draw diagonal lines, and leave the ground between them */
	hatch(x, y, width, height, colour) {
		const step = Math.round(5 * this.scale), thick = Math.max(1, Math.round(this.scale));
		const left = Math.max(0, x), right = Math.min(this.width, x + width);
		const bottom = Math.min(this.height, y + height);

		for (let line = Math.max(0, y); line < bottom; line++)
			for (let at = left; at < right; at++)
				if ((at + line) % step < thick)
					this.pixels[line * this.width + at] = colour;
	}

	show() {
		this.context.putImageData(this.image, 0, 0);
	}
}
