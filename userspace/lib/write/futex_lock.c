// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A lock, and memory, for the arbiter.
 *
 * The lock is Drepper's "mutex 2" (Futexes Are Tricky, 2011).  Its word is the thread id of the
 * holder, so that a signal handler finds out that it has interrupted the holder.  Lock and memory
 * avoid malloc() and pthread_mutex_*(), which signal handlers must not call, and keep errno.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "arbiter.h"

#define LOCK_WAITERS	0x80000000u

#ifdef TB_STEPS
void (*tb_step)(const volatile void *word);
unsigned int tb_map_fails;
#endif

static void futex(struct tb_futex_lock *lock, int operation, uint32_t value)
{
	int saved = errno;

	syscall(SYS_futex, &lock->word, operation, value, NULL, NULL, 0);
	errno = saved;
}

bool tb_futex_lock_try(struct tb_futex_lock *lock)
{
	uint32_t free = 0;

	/* acquires what the last holder has released */
	return shared_cas(&lock->word, &free, (uint32_t)syscall(SYS_gettid));
}

bool tb_futex_lock_acquire(struct tb_futex_lock *lock)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid), word = 0;

	if (shared_cas(&lock->word, &word, self))
		return true;
	for (;;) {
		if ((word & ~LOCK_WAITERS) == self)
			return false;
		if (!word) {
			/* other threads may wait; if none does, leaving makes a needless call */
			if (shared_cas(&lock->word, &word, self | LOCK_WAITERS))
				return true;
			continue;
		}
		if (!(word & LOCK_WAITERS) &&
		    !shared_cas(&lock->word, &word, word | LOCK_WAITERS))
			continue;
		futex(lock, FUTEX_WAIT_PRIVATE, word | LOCK_WAITERS);
		word = shared_get(&lock->word);
	}
}

void tb_futex_lock_release(struct tb_futex_lock *lock)
{
	/* release: to the next holder */
	if (shared_swap(&lock->word, 0) & LOCK_WAITERS)
		futex(lock, FUTEX_WAKE_PRIVATE, 1);
}

void *tb_map(size_t bytes)
{
	int saved = errno;
	void *memory;

#ifdef TB_STEPS
	if (tb_map_fails && tb_map_fails-- == 1) {
		tb_map_fails = 1;
		return NULL;
	}
#endif
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

void tb_unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}
