/* SPDX-License-Identifier: GPL-2.0-only */
/* One fiber beside main(): it runs until it pauses, and continues there when it is resumed. */
#ifndef RING_FIBER_H
#define RING_FIBER_H

#include <stddef.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)	do { (void)(save); } while (0)
#define __sanitizer_finish_switch_fiber(save, bottom, size)	do { (void)(save); } while (0)
#endif

#define FIBER_STACK	(64 * 1024)

static char fiber_stack[FIBER_STACK] __attribute__((aligned(64)));
static const void *main_stack __attribute__((unused));
static size_t main_stack_size __attribute__((unused));

#ifdef __x86_64__
/* Push the registers that a call preserves, switch stacks, pop them there */
void fiber_switch(void **save, void *to);
asm(".text\n"
    "fiber_switch:\n"
    "	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
    "	ret\n");

static void *main_sp, *fiber_sp;
#define TO_MAIN()	fiber_switch(&fiber_sp, main_sp)
#define TO_FIBER()	fiber_switch(&main_sp, fiber_sp)

static void fiber_init(void (*run)(void))
{
	void **top = (void **)(fiber_stack + FIBER_STACK);

	*--top = NULL;
	*--top = (void *)run;
	fiber_sp = top - 6;
}
#else
static ucontext_t main_context, fiber_context;
#define TO_MAIN()	swapcontext(&fiber_context, &main_context)
#define TO_FIBER()	swapcontext(&main_context, &fiber_context)

static void fiber_init(void (*run)(void))
{
	getcontext(&fiber_context);
	fiber_context.uc_stack.ss_sp = fiber_stack;
	fiber_context.uc_stack.ss_size = FIBER_STACK;
	makecontext(&fiber_context, run, 0);
}
#endif

/* @run of fiber_init() must call this first */
static void fiber_entered(void)
{
	__sanitizer_finish_switch_fiber(NULL, &main_stack, &main_stack_size);
}

/* Let the fiber run until it pauses */
static void fiber_resume(void)
{
	void *fake;

	__sanitizer_start_switch_fiber(&fake, fiber_stack, FIBER_STACK);
	TO_FIBER();
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

/* Called by the fiber: back to main() */
static void fiber_pause(void)
{
	void *fake;

	__sanitizer_start_switch_fiber(&fake, main_stack, main_stack_size);
	TO_MAIN();
	__sanitizer_finish_switch_fiber(fake, &main_stack, &main_stack_size);
}

#endif /* RING_FIBER_H */
