/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A manager of save channels for the tests: calls to follow a channel step by step, and a manager
 * that does everything right.
 *
 * Recordings have numbered events (fire()) in small blocks. The kernel records a tie of its clocks
 * every ten seconds, too; a test with exact numbers repeats a round that has one.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include "device.h"

#define BUFFERS		4
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROUNDS		5

/* Functions that return int return -errno on failure. */
int record(int fd, uint32_t policy, uint32_t buffers);
int open_request(int fd, struct tb_fifo f);
int fifo_open(int fd, uint32_t cpu);

/* Waits for the next packet; -ENODATA at the end. */
int get(int ch, struct tb_packet *packet);
/* Is there no packet now? */
bool nothing(int ch);
int put(int ch, const void *packets, size_t bytes);
int answer(int ch, struct tb_packet packet);

#define ASSERT_PACKET(ch, packet, what)						\
	do {									\
		ASSERT_EQ(0, get(ch, packet));					\
		ASSERT_EQ(what, (packet)->request);				\
		ASSERT_EQ(0, (packet)->reserved);				\
	} while (0)

#define ASSERT_STARTED(ch)							\
	do {									\
		struct tb_packet started_;					\
		struct tb_query query_;						\
										\
		ASSERT_EQ(0, tb_query(self->fd, &query_));			\
		ASSERT_PACKET(ch, &started_, TB_FIFO_STARTED);			\
		ASSERT_EQ(TB_FIFO_VERSION, started_.data32);			\
		ASSERT_EQ(query_.generation, started_.data64);			\
	} while (0)

#define ASSERT_STOPPED(ch, reason)						\
	do {									\
		struct tb_packet stopped_;					\
										\
		ASSERT_PACKET(ch, &stopped_, TB_FIFO_STOPPED);			\
		ASSERT_EQ(reason, stopped_.data32);				\
		ASSERT_EQ(-ENODATA, get(ch, &stopped_));			\
		ASSERT_EQ(POLLHUP, tb_poll(ch) & (POLLIN | POLLHUP | POLLERR));	\
	} while (0)

#define ASSERT_ACCOUNTING(st)							\
	ASSERT_EQ((st)->attempted, (st)->delivered + (st)->overwritten +	\
				   (st)->dropped + (st)->pending)

/* The offered block in the mapping, or NULL. */
const struct tb_block *offered(const char *map, const struct tb_query *q, uint32_t cpu,
			       uint32_t wrap);

struct manager {
	int fd;
	const char *map;
	size_t bytes;
	struct tb_query q;
	uint64_t durable;	/* bytes of durable blocks that were saved */
	struct stream *s;
};

bool manager_init(struct manager *m, int fd, struct stream *s);
void manager_exit(struct manager *m);
/* Saves the durable blocks that have not been saved. */
bool save_durable(struct manager *m);
/* Saves in the right order: durable blocks first, then the offered block. */
bool save(struct manager *m, uint32_t cpu, const struct tb_packet *packet);
/* Saves what channel @ch of CPU 0 offers until it stops, then frees @m. */
bool manager_finish(struct manager *m, int ch);

/* Checks that numbers on CPU 0 are missing only where gaps count them. */
struct numbers {
	struct stream *s;
	uint32_t count, next, wrong;
	uint64_t told;		/* events missing before this block */
};

void follow(struct numbers *n, struct stream *s);

#endif /* MANAGER_H */
