// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mouse, fingers and keys on the timeline.
 */

const CLICK = 4;	/* a pointer that moves fewer pixels is a click, not a drag */
const REST = 250;	/* ms after which a wheel that scrolled the page may zoom */

export const KEYS = [
	['drag', 'move in time, and up and down'],
	['wheel', 'zoom where the pointer is; over the names: up and down; with Shift: move in time'],
	['Shift and drag, or drag in the ruler', 'measure a range'],
	['click', 'choose a slice; a heading: open or close it'],
	['← → or A D', 'move in time'],
	['↑ ↓ Page Up Page Down Home End', 'up and down'],
	['+ − or W S', 'zoom in and out'],
	['0', 'show the whole trace'],
	['z', 'zoom to the chosen slice or the range'],
	[', .', 'previous, next slice in the same row'],
	['/', 'search'],
	['n N', 'next hit, previous hit'],
	['Esc', 'clear the search, the choice and the range'],
	['T', 'theme: light, dark, or that of the system'],
	['?', 'this list'],
];

export class Input {
	/** @view: the View of main.js, which carries out the input */
	constructor(view, box, scroll) {
		Object.assign(this, { view, box, scroll });
		this.drag = null;
		this.scrolled = 0;
		scroll.addEventListener('pointerdown', (event) => this.down(event));
		scroll.addEventListener('pointermove', (event) => this.move(event));
		scroll.addEventListener('pointerup', (event) => this.up(event));
		scroll.addEventListener('pointercancel', () => this.stop());
		scroll.addEventListener('pointerleave', () => this.view.hover(null));
		scroll.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
		scroll.addEventListener('dblclick', () => this.view.zoomToChosen());
		window.addEventListener('scroll', () => {
			this.scrolled = performance.now();
		}, { passive: true });
		document.addEventListener('keydown', (event) => this.key(event));
	}

	at(event) {
		const box = this.box.getBoundingClientRect();

		return [event.clientX - box.left, event.clientY - box.top];
	}

	/* ---- pointer ---- */

	down(event) {
		const [x, y] = this.at(event), drawing = this.view.drawing;

		if (event.button !== 0 || x >= this.scroll.clientWidth)
			return;
		this.box.focus({ preventScroll: true });
		this.scroll.setPointerCapture(event.pointerId);
		this.drag = { x, y, lastX: x, moved: false, top: this.scroll.scrollTop,
			range: x >= drawing.gutter && (event.shiftKey || y < drawing.ruler) ? drawing.timeAt(x) : null,
			names: x < drawing.gutter };
		this.view.hover(null);
	}

	move(event) {
		const [x, y] = this.at(event), drag = this.drag, view = this.view;

		if (!drag) {
			view.hover(x < this.scroll.clientWidth ? [x, y] : null);
			return;
		}
		drag.moved = drag.moved || Math.hypot(x - drag.x, y - drag.y) >= CLICK;
		if (!drag.moved)
			return;
		if (drag.range !== null) {
			view.measure(drag.range, view.drawing.timeAt(x));
			return;
		}
		this.scroll.scrollTop = drag.top - (y - drag.y);
		if (!drag.names)
			view.viewport.pan((drag.lastX - x) / Math.max(1, view.drawing.width - view.drawing.gutter));
		drag.lastX = x;
		this.box.classList.add('dragged');
	}

	up(event) {
		const [x, y] = this.at(event), drag = this.drag;

		this.stop();
		if (drag && !drag.moved)
			this.view.click(x, y);
		else if (drag && drag.range !== null)
			this.view.measured();
	}

	stop() {
		this.drag = null;
		this.box.classList.remove('dragged');
	}

	wheel(event) {
		const [x] = this.at(event), { viewport, drawing } = this.view;
		const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
		const dx = event.deltaX * unit, dy = event.deltaY * unit;

		/* while the wheel scrolls the page, let it scroll past the timeline */
		if (performance.now() - this.scrolled < REST) {
			this.scrolled = performance.now();
			return;
		}
		if (x < drawing.gutter || x >= this.scroll.clientWidth)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(dx) > Math.abs(dy))
			viewport.pan((dx || dy) / Math.max(1, drawing.width - drawing.gutter));
		else
			viewport.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * 0.002), drawing.timeAt(x));
		this.view.hover(this.at(event));
	}

	/* ---- keys ---- */

	key(event) {
		const typing = event.target.matches('input, select, textarea');
		const view = this.view;

		if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]'))
			return;
		if (typing) {
			if (event.key === 'Escape')
				view.escape();
			return;
		}
		if (this.common(event.key) || (this.box.contains(event.target) || event.target === document.body) &&
		    this.moves(event.key, event.target !== document.body))
			event.preventDefault();
	}

	/* Keys that work wherever the focus is */
	common(key) {
		const view = this.view;

		switch (key) {
		case '/': view.search.focus(); view.search.select(); break;
		case 'n': view.hit(1); break;
		case 'N': view.hit(-1); break;
		case '?': view.help(); break;
		case 'T': view.theme.next(); break;
		case 'Escape': view.escape(); break;
		default: return false;
		}
		return true;
	}

	/* Keys of the timeline; @focused: also those that would otherwise scroll the page */
	moves(key, focused) {
		const view = this.view, viewport = view.viewport;

		switch (key) {
		case 'ArrowLeft': case 'a': case 'A': viewport.pan(-0.2); break;
		case 'ArrowRight': case 'd': case 'D': viewport.pan(0.2); break;
		case '+': case '=': case 'w': case 'W': viewport.zoom(1 / 1.5, view.centre()); break;
		case '-': case 's': case 'S': viewport.zoom(1.5, view.centre()); break;
		case '0': viewport.fit(); break;
		case 'z': view.zoomToChosen(); break;
		case ',': view.step(-1); break;
		case '.': view.step(1); break;
		case 'Enter': view.chooseMiddle(); break;
		default: return focused && this.vertical(key);
		}
		return true;
	}

	vertical(key) {
		const scroll = this.scroll, page = scroll.clientHeight - 40;
		const by = { ArrowUp: -40, ArrowDown: 40, PageUp: -page, PageDown: page, Home: -1e9, End: 1e9 }[key];

		if (!by)
			return false;
		scroll.scrollTop += by;
		return true;
	}
}
