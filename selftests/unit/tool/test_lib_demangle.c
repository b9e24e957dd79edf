// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of C++ and Rust have the names that their authors gave them, in stacks of print,
 * flamegraph, export and query; other names stay short and on one line. If this fails, a user
 * cannot find the function in the source, or a hostile name breaks the output.
 */
#include "test_lib_fixture.h"
#include "../../../userspace/tool/show/frames.c"

static void is(const char *mangled, const char *name)
{
	const char *made = demangle_name(mangled);

	CHECK(made && !strcmp(made, name));
	if (made && strcmp(made, name))
		printf("# %s: '%s', not '%s'\n", mangled, made, name);
}

static void languages(void)
{
	/* C++: without parameters */
	is("_ZN3foo3barEv", "foo::bar");
	is("_ZN3foo3barC1ERKS0_", "foo::bar::bar");
	is("_ZNSt6vectorIiSaIiEE9push_backERKi",
	   "std::vector<int, std::allocator<int> >::push_back");
	is("_ZN4shopL8checkoutEPKc", "shop::checkout");
	/* Rust: with a hash, which is not shown, and the newer scheme */
	is("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	is("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure"
	   "$u7d$$u7d$$GT$17h0123456789abcdefE",
	   "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
	is("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	is("_RNvMs_NtCs1234_4shop4cartNtB4_4Cart3add", "<shop::cart::Cart>::add");
	is("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
	/* C */
	is("main", "main");
	is("checkout.isra.0", "checkout.isra.0");
}

static void odd_names(void)
{
	char longest[4 * NAME_MAX_BYTES];
	const char *made;

	is("_Z", "_Z");
	is("_ZN3foo3ba", "_ZN3foo3ba");
	is("_RNvCs1234_7my", "_RNvCs1234_7my");
	is("", "");
	is("a\nb\x1b[31m", "a?b?[31m");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	made = demangle_name(longest);
	CHECK(made && strlen(made) == NAME_MAX_BYTES);
	/* longer than the limit when it is expanded: S1_ is std::vector<int> */
	strcpy(longest, "_Z1fISt6vectorIiE");
	for (int i = 0; i < 200; i++)
		strcat(longest, "S1_");
	strcat(longest, "EvT_");
	made = demangle_name(longest);
	CHECK(made && strlen(made) == NAME_MAX_BYTES &&
	      !strncmp(made, "f<std::vector<int>, std::vector<int>, ", 38));
	/* the same pointer for the same name */
	CHECK(demangle_name("_ZN3foo3barEv") == demangle_name("_ZN3foo3barEv"));
}

static const struct test tests[] = {
	{ "names of C++ and Rust are demangled", languages },
	{ "names that cannot be demangled, or are too long", odd_names },
};

TEST_MAIN(tests)
