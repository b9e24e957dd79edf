// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draw a tree of stacks as SVG, which needs no other file.  A script in it adds zooming and
 * searching; the picture is complete without it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "flame.h"

#define PAD	10
#define ROW	17
#define TOP	64		/* height of title and subtitle */
#define LINE	16		/* height of a remark */
#define LETTER	7.2		/* width of a letter of 12 px, monospace */

static const char script[] =
#include "flame_script.inc"
;

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--ink:#1b1b1b;--dim:#555}"
	"@media(prefers-color-scheme:dark){:root{--bg:#17191c;--ink:#e6e6e6;--dim:#a5a9ae}}"
	"svg{background:var(--bg)}"
	"text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:var(--ink)}"
	".title{font:600 16px system-ui,sans-serif}"
	".dim{font:12px system-ui,sans-serif;fill:var(--dim)}"
	"#back{font:12px system-ui,sans-serif;text-decoration:underline;cursor:pointer}"
	"#found{text-anchor:end}"
	".f{cursor:pointer}"
	".f text{fill:#111;pointer-events:none}"
	".f:hover rect,.chosen rect{stroke:var(--ink);stroke-width:1.5}"
	".above{opacity:.55}"
	".searching .f:not(.match) rect{fill-opacity:.35}"
	".searching .f:not(.match) text{fill:var(--ink)}"
	".match rect{fill:#d95fd0}"
	"input{box-sizing:border-box;width:100%;height:26px;font:13px system-ui,sans-serif}";

struct drawing {
	const struct flame *flame;
	const struct flame_look *look;
	FILE *out;
	double scale;			/* pixels for a weight of 1 */
	uint32_t depth;			/* rows */
	uint32_t drawn, left_out;
};

/* True for U+FFFE and U+FFFF, which XML does not allow */
static bool is_none(const char *text, size_t length)
{
	return length >= 3 && !memcmp(text, "\xef\xbf", 2) &&
	       ((unsigned char)text[2] & 0xfe) == 0xbe;
}

/* Put text between tags, or in quotes */
static void put_text(FILE *out, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (is_none(text + i, length - i)) {
			fputs("???", out);
			i += 2;
			continue;
		}
		switch (text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			/* XML does not allow control characters */
			fputc((unsigned char)text[i] < 0x20 ? '?' : text[i], out);
		}
	}
}

static void put_line(struct drawing *drawing, double y, const char *class,
		     const char *text)
{
	fprintf(drawing->out, "<text class=\"%s\" x=\"%d\" y=\"%.0f\">", class, PAD, y);
	put_text(drawing->out, text, strlen(text));
	fputs("</text>\n", drawing->out);
}

/* Bytes of the first @letters letters of @text */
static size_t letters_bytes(const char *text, size_t letters)
{
	size_t i = 0;

	for (; text[i] && letters; letters--)
		for (i++; ((unsigned char)text[i] & 0xc0) == 0x80; i++)
			;
	return i;
}

/* Put as much of the name as fits, as label() of the script does */
static void put_label(FILE *out, const char *name, double pixels)
{
	size_t room = pixels < 6 ? 0 : (size_t)((pixels - 6) / LETTER);
	size_t bytes;

	if (room < 3)
		return;
	bytes = letters_bytes(name, room);
	if (!name[bytes]) {
		put_text(out, name, bytes);
		return;
	}
	put_text(out, name, letters_bytes(name, room - 2));
	fputs("..", out);
}

/* The kind sets the colour, the name the shade */
static unsigned int colour(const struct flame_frame *frame)
{
	static const unsigned char base[][3] = {
		[FLAME_ROOT]   = { 196, 200, 206 },
		[FLAME_TASK]   = { 150, 185, 225 },
		[FLAME_USER]   = { 130, 200, 140 },
		[FLAME_KERNEL] = { 245, 160,  80 },
	};
	const unsigned char *rgb = base[frame->kind];
	unsigned int hash = 2166136261u, shade;
	const char *c;

	if (frame->kind == FLAME_ROOT)
		return (unsigned int)(rgb[0] << 16 | rgb[1] << 8 | rgb[2]);
	for (c = frame->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	shade = (hash ^ hash >> 16) % 31;
	return (unsigned int)((rgb[0] - 15 + shade / 3) << 16 |
			      (rgb[1] - 15 + shade) << 8 | (rgb[2] - 5 + shade));
}

static double row_y(const struct drawing *drawing, uint32_t depth)
{
	return TOP + ROW * (drawing->look->inverted ? depth :
			    drawing->depth - 1 - depth);
}

static void put_frame(struct drawing *drawing, uint32_t node, uint64_t start,
		      uint32_t depth)
{
	const struct flame_tree *tree = &drawing->flame->tree;
	const struct flame_frame *frame = flame_frame_of(tree, node);
	uint64_t weight = tree->nodes[node].total, all = tree->nodes[0].total;
	double x = PAD + (double)start * drawing->scale, y = row_y(drawing, depth);
	double pixels = (double)weight * drawing->scale;
	FILE *out = drawing->out;
	char text[48];

	fprintf(out, "<g class=\"f\" data-a=\"%" PRIu64 "\" data-w=\"%" PRIu64
		"\" data-d=\"%" PRIu32 "\"><title>", start, weight, depth);
	put_text(out, frame->name, strlen(frame->name));
	fprintf(out, "\n%s, %.2f %%</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"#%06x\"/><text x=\"%.2f\" y=\"%.0f\">",
		flame_amount(drawing->flame, weight, text),
		all ? 100.0 * (double)weight / (double)all : 0.0, x, y,
		pixels > 0.6 ? pixels - 0.5 : 0.1, ROW - 1, colour(frame), x + 3,
		y + 12);
	put_label(out, frame->name, pixels);
	fputs("</text></g>\n", out);
}

/* Draw all frames that are wide enough (@draw), or count them and find the depth */
static void walk(struct drawing *drawing, uint32_t node, uint64_t start,
		 uint32_t depth, bool draw)
{
	const struct flame_node *nodes = drawing->flame->tree.nodes;
	uint32_t child;

	/* a stack without weight: its time has no end */
	if (node && !nodes[node].total)
		return;
	if (node && (double)nodes[node].total * drawing->scale < drawing->look->least) {
		drawing->left_out += !draw;
		return;
	}
	if (draw)
		put_frame(drawing, node, start, depth);
	drawing->drawn += !draw;
	if (depth + 1 > drawing->depth)
		drawing->depth = depth + 1;
	for (child = nodes[node].first; child; child = nodes[child].next) {
		walk(drawing, child, start, depth + 1, draw);
		start += nodes[child].total;
	}
}

static void put_remarks(struct drawing *drawing, double y, const char *pruned)
{
	char text[512];
	unsigned int i;

	if (pruned[0])
		put_line(drawing, y, "dim", pruned);
	y += pruned[0] ? LINE : 0;
	for (i = 0; flame_remark(drawing->flame, i, text, sizeof(text)); i++)
		put_line(drawing, y + LINE * i, "dim", text);
}

static unsigned int nr_remarks(const struct flame *flame)
{
	unsigned int count = 0;
	char text[512];

	while (flame_remark(flame, count, text, sizeof(text)))
		count++;
	return count;
}

static void put_head(struct drawing *drawing, uint32_t height)
{
	const struct flame_look *look = drawing->look;
	FILE *out = drawing->out;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" data-width=\"%u\" data-inverted=\"%d\" aria-label=\"",
		look->width, height, look->width, height, look->width, look->inverted);
	put_text(out, look->title, strlen(look->title));
	fprintf(out, "\">\n<style>%s</style>\n", style);
	put_line(drawing, 24, "title", look->title);
}

/* Put the kind of weight, and the sum of all weights */
static void put_subtitle(struct drawing *drawing)
{
	static const char *const what[] = {
		[FLAME_EVENTS] = "how often",
		[FLAME_OFF_CPU] = "time until the thread ran again, by where it was switched away from",
		[FLAME_ON_CPU] = "time since the thread was switched to, by where it was switched away from",
		[FLAME_FIELD] = "sum of",
	};
	const struct flame *flame = drawing->flame;
	char text[256], all[48];

	snprintf(text, sizeof(text), "%s%s%.100s: %s in %" PRIu64 " stacks%s",
		 what[flame->weight], flame->field ? " " : "",
		 flame->field ? flame->field : "",
		 flame_amount(flame, flame->tree.nodes[0].total, all), flame->events,
		 flame->reverse ? "; innermost frames first: who calls them" : "");
	put_line(drawing, 44, "dim", text);
}

int flame_svg(const struct flame *flame, const struct flame_look *look, FILE *out)
{
	struct drawing drawing = { .flame = flame, .look = look, .out = out };
	uint64_t all = flame->tree.nodes[0].total;
	char pruned[128] = "";
	double y;

	drawing.scale = (double)(look->width - 2 * PAD) / (double)(all ? all : 1);
	walk(&drawing, 0, 0, 0, false);
	if (drawing.left_out)
		snprintf(pruned, sizeof(pruned), "%" PRIu32 " frames narrower than %g px, and the frames that they call, are not drawn (--min-width)",
			 drawing.left_out, look->least);
	y = TOP + ROW * (double)drawing.depth + 20;
	put_head(&drawing, (uint32_t)y + LINE * (nr_remarks(flame) + !!pruned[0]) + 12);
	put_subtitle(&drawing);
	fputs("<g>\n", out);
	walk(&drawing, 0, 0, 0, true);
	fprintf(out, "</g>\n<text id=\"details\" x=\"%d\" y=\"%.0f\">kernel: orange, programs: green, threads: blue; click to zoom, / to search, Esc to go back</text>\n",
		PAD, y);
	put_remarks(&drawing, y + LINE, pruned);
	fprintf(out, "<text id=\"back\" x=\"%d\" y=\"58\" style=\"display:none\">reset zoom</text>\n"
		"<text id=\"found\" class=\"dim\" x=\"%u\" y=\"54\"></text>\n"
		"<script><![CDATA[\n%s]]></script>\n</svg>\n", PAD,
		look->width - PAD, script);
	return ferror(out) ? -EIO : 0;
}
