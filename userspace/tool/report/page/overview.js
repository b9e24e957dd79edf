// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole trace in a strip: how busy all CPUs are, where events are missing, and the part that is
 * visible below.  Dragging moves that part.
 */
import { cpuKnown } from './model.js';
import { Paint } from './paint.js';

export class Overview {
	constructor(canvas, model, viewport) {
		Object.assign(this, { canvas, model, viewport });
		this.paint = new Paint(canvas);
		canvas.addEventListener('pointerdown', (event) => {
			canvas.setPointerCapture(event.pointerId);
			this.grab(event, true);
		});
		canvas.addEventListener('pointermove', (event) => event.buttons & 1 && this.grab(event, false));
	}

	timeAt(event) {
		const box = this.canvas.getBoundingClientRect();

		return (event.clientX - box.left - this.gutter) / Math.max(1, box.width - this.gutter) * this.model.length;
	}

	grab(event, first) {
		const { from, to, span } = this.viewport, time = this.timeAt(event);

		if (first)
			this.held = time >= from && time <= to ? time - from : span / 2;
		this.viewport.set(time - this.held, time - this.held + span);
	}

	draw(width, gutter, colours, scale) {
		const paint = this.paint, height = 36;

		this.gutter = gutter;
		paint.resize(width, height, scale);
		const left = Math.round(gutter * paint.scale), wide = Math.max(1, paint.width - left);
		const x = (time) => left + Math.round(time / this.model.length * wide);
		const from = x(Math.max(0, this.viewport.from)), to = x(Math.min(this.model.length, this.viewport.to));

		if (this.wide !== wide)
			this.measure(wide);
		paint.clear(colours.label);
		paint.fill(from, 0, to - from, paint.height, colours.ground);
		for (let i = 0; i < wide; i++) {
			const tall = Math.round(Math.max(0, this.busy[i]) * (paint.height - 4));
			const seen = left + i >= from && left + i <= to;

			paint.column(left + i, paint.height - tall, tall, seen ? colours.running : colours.sleeping);
			if (this.busy[i] < 0)
				paint.column(left + i, Math.round(paint.height / 2), 1, colours.unknown);
		}
		for (const [begin, end] of this.model.losses)
			paint.fill(x(begin), 0, Math.max(2, x(end) - x(begin)), Math.round(5 * paint.scale), colours.lost);
		if (this.model.leftOut)
			paint.hatch(x(this.model.cut), 0, paint.width, paint.height, colours.soft);
		paint.fill(from, 0, Math.max(1, Math.round(paint.scale)), paint.height, colours.mark);
		paint.fill(to - 1, 0, Math.max(1, Math.round(paint.scale)), paint.height, colours.mark);
		paint.fill(0, paint.height - 1, paint.width, 1, colours.line);
		paint.show();
		const context = paint.context;

		context.setTransform(paint.scale, 0, 0, paint.scale, 0, 0);
		context.font = '11px system-ui, sans-serif';
		context.textBaseline = 'middle';
		context.fillStyle = colours.css.soft;
		context.fillText('CPU use, all', 10, height / 2);
		context.setTransform(1, 0, 0, 1, 0, 0);
	}

	/* Compute how busy the CPUs are in the time that is known, for each pixel; -1: nothing is */
	measure(wide) {
		const step = this.model.length / Math.max(1, wide);

		this.wide = wide;
		this.busy = new Float64Array(wide);
		for (let i = 0; i < wide; i++) {
			let busy = 0, known = 0;

			for (const cpu of this.model.cpus) {
				known += cpuKnown(cpu, i * step, (i + 1) * step);
				busy += cpu.run ? cpu.run.busy(i * step, (i + 1) * step) : 0;
			}
			this.busy[i] = known > 0 ? Math.min(1, busy / known) : -1;
		}
	}
}
