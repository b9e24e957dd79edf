/*
 * The script in the SVG: details of the frame under the pointer, zooming, searching.
 */
(function () {
'use strict';
const PAD = 10, LETTER = 7.2, SEARCH = 230;
const svg = document.documentElement, space = svg.namespaceURI;
const details = document.getElementById('details'), back = document.getElementById('back');
const found = document.getElementById('found'), idle = details.textContent;
const inverted = svg.dataset.inverted === '1';
const frames = Array.from(document.querySelectorAll('.f'), function (group) {
	const title = group.querySelector('title').textContent, end = title.lastIndexOf('\n');
	return {
		group: group, rect: group.querySelector('rect'), text: group.querySelector('text'),
		start: +group.dataset.a, weight: +group.dataset.w, depth: +group.dataset.d,
		name: title.slice(0, end), said: title.slice(end + 1), parent: null, match: false,
	};
});
const path = [];
frames.forEach(function (frame) {
	path.length = frame.depth;
	frame.parent = path[frame.depth - 1] || null;
	path.push(frame);
});
if (!frames.length)
	return;
const root = frames[0];
let zoomed = root, chosen = null, width = 0;

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + ' %';
}

/* As much of the name as fits */
function label(frame, pixels) {
	const letters = Array.from(frame.name), room = Math.floor((pixels - 6) / LETTER);
	if (room < 3)
		return '';
	return letters.length <= room ? frame.name : letters.slice(0, room - 2).join('') + '..';
}

function place(frame, x, pixels) {
	frame.rect.setAttribute('x', x);
	frame.rect.setAttribute('width', Math.max(pixels - 0.5, 0.1));
	frame.text.setAttribute('x', x + 3);
	frame.text.textContent = label(frame, pixels);
}

function layout() {
	const end = zoomed.start + zoomed.weight, scale = (width - 2 * PAD) / (zoomed.weight || 1);
	frames.forEach(function (frame) {
		const above = frame.depth < zoomed.depth && frame.start <= zoomed.start &&
			frame.start + frame.weight >= end;
		const inside = frame.depth >= zoomed.depth && frame.start >= zoomed.start &&
			frame.start + frame.weight <= end && frame.weight * scale >= 0.1;
		frame.group.style.display = above || inside ? '' : 'none';
		frame.group.classList.toggle('above', above);
		if (above)
			place(frame, PAD, width - 2 * PAD);
		else if (inside)
			place(frame, PAD + (frame.start - zoomed.start) * scale, frame.weight * scale);
	});
	back.style.display = zoomed === root ? 'none' : '';
}

function tell(frame) {
	details.textContent = !frame ? idle : frame.name + ': ' + frame.said +
		(zoomed === root ? '' : ', ' + percent(frame.weight, zoomed.weight) + ' of ' + zoomed.name);
}

function choose(frame) {
	if (chosen)
		chosen.group.classList.remove('chosen');
	chosen = frame;
	if (chosen)
		chosen.group.classList.add('chosen');
	tell(chosen);
}

function zoom(frame) {
	zoomed = frame;
	layout();
	choose(frame === root ? null : frame);
}

/* Parents come before their children: of nested matches add only the weight of the outermost */
function search(text) {
	let pattern = null, sum = 0, count = 0, end = 0;
	try {
		pattern = text ? new RegExp(text, 'i') : null;
	} catch (error) {
		pattern = { test: function (name) { return name.includes(text); } };
	}
	frames.forEach(function (frame) {
		frame.match = !!pattern && frame !== root && pattern.test(frame.name);
		frame.group.classList.toggle('match', frame.match);
		if (!frame.match)
			return;
		count++;
		if (frame.start >= end) {
			sum += frame.weight;
			end = frame.start + frame.weight;
		}
	});
	svg.classList.toggle('searching', !!pattern);
	found.textContent = pattern ? count + ' found, ' + percent(sum, root.weight) : '';
}

const field = document.createElementNS(space, 'foreignObject');
const input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
field.setAttribute('y', 8);
field.setAttribute('width', SEARCH);
field.setAttribute('height', 30);
input.setAttribute('type', 'search');
input.setAttribute('placeholder', 'search (/), a regular expression');
input.setAttribute('aria-label', 'search frames');
input.addEventListener('input', function () { search(input.value); });
field.appendChild(input);
svg.appendChild(field);

function resize() {
	svg.setAttribute('width', '100%');
	svg.removeAttribute('viewBox');
	width = Math.max(svg.getBoundingClientRect().width || +svg.dataset.width, 400);
	field.setAttribute('x', width - PAD - SEARCH);
	found.setAttribute('x', width - PAD);
	layout();
}

/* The visible frame to the left (-1) or right (1) in the same row */
function beside(frame, step) {
	const row = frames.filter(function (other) {
		return other.depth === frame.depth && other.group.style.display !== 'none';
	});
	return row[row.indexOf(frame) + step] || frame;
}

function inside(frame) {
	return frames.find(function (other) {
		return other.parent === frame && other.group.style.display !== 'none';
	}) || frame;
}

function move(key) {
	if (!chosen)
		return choose(zoomed);
	if (key === 'ArrowLeft' || key === 'ArrowRight')
		return choose(beside(chosen, key === 'ArrowLeft' ? -1 : 1));
	choose((key === 'ArrowUp') === inverted ? chosen.parent || chosen : inside(chosen));
}

frames.forEach(function (frame) {
	frame.group.addEventListener('mouseenter', function () { tell(frame); });
	frame.group.addEventListener('mouseleave', function () { tell(chosen); });
	frame.group.addEventListener('click', function () { zoom(frame); });
});
back.addEventListener('click', function () { zoom(root); });
window.addEventListener('resize', resize);
window.addEventListener('keydown', function (event) {
	if (event.target === input) {
		if (event.key === 'Escape') {
			input.value = '';
			search('');
			input.blur();
		} else if (event.key === 'Enter') {
			input.blur();
		}
		return;
	}
	if (event.key === '/' || ((event.ctrlKey || event.metaKey) && event.key === 'f'))
		input.focus();
	else if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	else if (event.key.startsWith('Arrow'))
		move(event.key);
	else if (event.key === 'Enter' && chosen)
		zoom(chosen);
	else if (event.key === 'Escape')
		zoom(root);
	else
		return;
	event.preventDefault();
});
resize();
})();
