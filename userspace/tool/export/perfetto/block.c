// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracebuf export - requests to block devices, as slices from issue to completion.
 *
 * Perfetto does not connect block_rq_issue and block_rq_complete.  So each device also gets tracks,
 * with a slice for each request.  Requests overlap: a device has as many tracks (lanes) of the same
 * name as it had requests in flight at once, and Perfetto draws these as one.
 *
 * Device and first sector identify a request.  It may be completed in parts, from the front.  If
 * the completion is missing, the slice ends at the first gap since the request was issued, or when
 * the same sector is requested again; without either it stays open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "perfetto.h"
#include "tool/command/command.h"

#define DEVICES_MAX	256
#define LANES_MAX	128	/* requests in flight of one device */
#define UUID_BLOCK	(1ull << 62)

#define MINOR_BITS	20	/* of a device number in events */

struct lane {
	bool described, busy;
	uint64_t sector, sectors;
	uint64_t doubt, begin;	/* @doubt: the first gap since the request was issued; 0: none */
};

struct device {
	uint32_t number;
	struct lane lanes[LANES_MAX];
};

/* Fields of a format; NULL @dev: the format is not one of requests */
struct request {
	bool issue;
	const struct tb_format_field *dev, *sector, *sectors, *bytes, *error, *rwbs;
};

struct pf_block {
	struct pf_out *out;
	struct device *devices[DEVICES_MAX];
	size_t nr_devices;
	uint64_t left_out;
	struct request requests[];	/* by index of the format */
};

static void fill_request(struct request *request, const struct tb_format *format)
{
	request->issue = !strcmp(format->name, "block_rq_issue");
	if (strcmp(format->system, "block") ||
	    (!request->issue && strcmp(format->name, "block_rq_complete")))
		return;
	request->sector = tb_format_field(format, "sector");
	request->sectors = tb_format_field(format, "nr_sector");
	request->bytes = tb_format_field(format, "bytes");
	request->error = tb_format_field(format, "error");
	request->rwbs = tb_format_field(format, "rwbs");
	if (request->sector && request->sectors)
		request->dev = tb_format_field(format, "dev");
}

struct pf_block *pf_block_open(struct pf_out *out, const struct tb_trace *trace)
{
	unsigned int count = tb_trace_formats(trace), i;
	struct pf_block *block;

	block = calloc(1, sizeof(*block) + count * sizeof(block->requests[0]));
	if (!block)
		return NULL;
	block->out = out;
	for (i = 0; i < count; i++)
		fill_request(&block->requests[i], tb_trace_format_at(trace, i));
	return block;
}

void pf_block_close(struct pf_block *block)
{
	size_t i;

	for (i = 0; block && i < block->nr_devices; i++)
		free(block->devices[i]);
	free(block);
}

void pf_block_note(const struct pf_block *block)
{
	if (block->left_out)
		fprintf(stderr, "%" PRIu64 " requests to block devices have no slice: more than %d of one device were under way, or there are more than %d devices\n",
			block->left_out, LANES_MAX, DEVICES_MAX);
}

/* NULL: too many devices, or *@result is -ENOMEM */
static struct device *device_of(struct pf_block *block, uint32_t number, int *result)
{
	struct device *device;
	size_t i;

	for (i = 0; i < block->nr_devices; i++)
		if (block->devices[i]->number == number)
			return block->devices[i];
	if (i == DEVICES_MAX)
		return NULL;
	device = calloc(1, sizeof(*device));
	if (!device) {
		*result = -ENOMEM;
		return NULL;
	}
	device->number = number;
	return block->devices[block->nr_devices++] = device;
}

static uint64_t uuid_of(const struct device *device, const struct lane *lane)
{
	return UUID_BLOCK | (uint64_t)device->number << 8 | (uint64_t)(lane - device->lanes);
}

static void describe_lane(struct pf_block *block, const struct device *device,
			  struct lane *lane)
{
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	char name[48];

	snprintf(name, sizeof(name), "block %" PRIu32 ":%" PRIu32,
		 device->number >> MINOR_BITS, device->number & ((1u << MINOR_BITS) - 1));
	track.name = name;
	pf_write_track(block->out, &track, uuid_of(device, lane), 0, 0);
	lane->described = true;
}

/* ---- slices ---- */

static void add_note(Perfetto__Protos__TrackEvent *event,
		     Perfetto__Protos__DebugAnnotation *notes, const char *name,
		     const struct tb_view *view, const struct tb_format_field *field)
{
	Perfetto__Protos__DebugAnnotation *note;
	uint64_t value;

	if (!field || tb_field_u64(view, field, &value))
		return;
	note = pf_note(event, notes, name);
	note->value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_INT_VALUE;
	note->int_value = (int64_t)value;
}

static void write_issue(struct pf_block *block, const struct request *request,
			const struct tb_view *view, const struct device *device,
			const struct lane *lane, uint64_t ns)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	Perfetto__Protos__DebugAnnotation notes[3], *list[3];
	char name[32] = "request", category[] = "block", *categories = category;
	const char *text;
	size_t length;

	if (request->rwbs && !tb_field_str(view, request->rwbs, &text, &length) &&
	    length && length < sizeof(name))
		export_clean(name, text, length);
	event.n_categories = 1;
	event.categories = &categories;
	event.name_field_case = PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME;
	event.name = name;
	event.debug_annotations = list;
	add_note(&event, notes, "sector", view, request->sector);
	add_note(&event, notes, "nr_sector", view, request->sectors);
	add_note(&event, notes, "bytes", view, request->bytes);
	pf_write_track_event(block->out, PF_SEQUENCE_BLOCK, &event,
			     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
			     uuid_of(device, lane), ns, NULL);
}

/* @request: fields of the completion; NULL: it is missing */
static void write_end(struct pf_block *block, const struct request *request,
		      const struct tb_view *view, const struct device *device,
		      struct lane *lane, uint64_t ns)
{
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	Perfetto__Protos__DebugAnnotation notes[1], *list[1];

	event.debug_annotations = list;
	if (request)
		add_note(&event, notes, "error", view, request->error);
	pf_write_track_event(block->out, PF_SEQUENCE_BLOCK, &event,
			     PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END,
			     uuid_of(device, lane), ns, NULL);
	lane->busy = false;
}

/* End a slice without a completion at the first gap since its beginning; without a gap at @ns */
static void write_missing(struct pf_block *block, const struct device *device,
			  struct lane *lane, uint64_t ns)
{
	write_end(block, NULL, NULL, device, lane, lane->doubt ? lane->doubt : ns);
}

void pf_block_lost(struct pf_block *block, uint64_t ns)
{
	struct lane *lane;
	size_t i;

	for (i = 0; i < block->nr_devices; i++) {
		lane = block->devices[i]->lanes;
		for (; lane < block->devices[i]->lanes + LANES_MAX && lane->described; lane++)
			if (lane->busy && !lane->doubt)
				lane->doubt = ns > lane->begin ? ns : lane->begin;
	}
}

int pf_block_finish(struct pf_block *block)
{
	struct lane *lane;
	size_t i;

	for (i = 0; i < block->nr_devices; i++) {
		lane = block->devices[i]->lanes;
		for (; lane < block->devices[i]->lanes + LANES_MAX; lane++)
			if (lane->busy && lane->doubt)
				write_missing(block, block->devices[i], lane, lane->doubt);
	}
	return block->out->error;
}

static struct lane *lane_of(struct device *device, uint64_t sector)
{
	struct lane *lane;

	for (lane = device->lanes; lane < device->lanes + LANES_MAX; lane++)
		if (lane->busy && lane->sector == sector)
			return lane;
	return NULL;
}

static struct lane *free_lane(struct device *device)
{
	struct lane *lane = device->lanes;

	while (lane < device->lanes + LANES_MAX && lane->busy)
		lane++;
	return lane < device->lanes + LANES_MAX ? lane : NULL;
}

int pf_block_write(struct pf_block *block, const struct tb_view *view, uint64_t ns)
{
	const struct request *request = &block->requests[view->format->index];
	uint64_t number, sector, sectors;
	struct device *device;
	struct lane *lane;
	int result = 0;

	if (!request->dev || tb_field_u64(view, request->dev, &number) ||
	    tb_field_u64(view, request->sector, &sector) ||
	    tb_field_u64(view, request->sectors, &sectors))
		return 0;
	device = device_of(block, (uint32_t)number, &result);
	lane = device ? lane_of(device, sector) : NULL;
	if (!request->issue) {
		if (lane && sectors && sectors < lane->sectors) {
			lane->sector += sectors;
			lane->sectors -= sectors;
		} else if (lane) {
			write_end(block, request, view, device, lane, ns);
		}
		return result ? result : block->out->error;
	}
	if (lane)
		write_missing(block, device, lane, ns);
	lane = device ? free_lane(device) : NULL;
	block->left_out += !lane && !result;
	if (lane) {
		if (!lane->described)
			describe_lane(block, device, lane);
		*lane = (struct lane){ true, true, sector, sectors, 0, ns };
		write_issue(block, request, view, device, lane, ns);
	}
	return result ? result : block->out->error;
}
