/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A manager of save/saved channels for the tests: what it takes to follow one step by step, and
 * one that does everything as it should be done.
 *
 * What is recorded are numbered events (fire()), in small blocks.  Besides them the tie of the
 * clocks is recorded every ten seconds: where numbers are exact a round in which that
 * came in between is done again.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include "device.h"

#define BUFFERS		4
#define ELEMENTS	64
#define BLOCK		(ELEMENTS * TB_ELEMENT_SIZE)
#define PER_BLOCK	((ELEMENTS - TB_BLOCK_FIRST_ELEMENT) / FIRE_ELEMENTS)
#define ROUNDS		5

/* What returns int returns -errno on failure. */
int record(int fd, uint32_t policy, uint32_t buffers);
int open_request(int fd, struct tb_fifo f);
int fifo_open(int fd, uint32_t cpu);

/* The next packet, which is to come; -ENODATA at the end. */
int get(int ch, struct tb_packet *packet);
/* There is none now. */
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

/* The block offered, in the mapping. */
const struct tb_block *offered(const char *map, const struct tb_query *q, uint32_t cpu,
			       uint32_t wrap);

struct manager {
	int fd;
	const char *map;
	size_t bytes;
	struct tb_query q;
	uint64_t durable;	/* bytes taken */
	struct stream *s;
};

bool manager_init(struct manager *m, int fd, struct stream *s);
void manager_exit(struct manager *m);
/* What is in the durable buffer and has not been saved. */
bool save_durable(struct manager *m);
/* As it should be done: durable first, then the block. */
bool save(struct manager *m, uint32_t cpu, const struct tb_packet *packet);
/* All that channel @ch of CPU 0 has to offer until it says that it has stopped, and exits. */
bool manager_finish(struct manager *m, int ch);

/* Checks the numbers on CPU 0 against what the gaps say is missing. */
struct numbers {
	struct stream *s;
	uint32_t count, next, wrong;
	uint64_t told;		/* missing before this block */
};

void follow(struct numbers *n, struct stream *s);

#endif /* MANAGER_H */
