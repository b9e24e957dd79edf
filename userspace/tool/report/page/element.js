// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make elements.  Texts of a trace are never parsed as HTML.
 */

export const byId = (id) => document.getElementById(id);

/** element('td', {class: 'number'}, 'text', child...) */
export function element(name, attributes = {}, ...children) {
	const made = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith('on'))
			made.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(key, value === true ? '' : value);
	}
	made.append(...children.filter((child) => child !== null && child !== undefined));
	return made;
}

/** Replace control characters, also those that change the direction of text, by \xNN */
export function plain(text) {
	// eslint-disable-next-line no-control-regex
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
		(c) => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0'));
}
