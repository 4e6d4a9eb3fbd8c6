/*
 * The counts of executed lines of a process that ends without exit: of a signal, or for want of
 * memory.  Linked, in the coverage build alone, into the program and into the test that ends so:
 * these come there instead of the functions of that name.
 */
#include <signal.h>

void __gcov_dump(void);

void __real__exit(int status);
void __wrap__exit(int status);
int __real_raise(int signal);
int __wrap_raise(int signal);

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

int __wrap_raise(int signal)
{
    __gcov_dump();
    return __real_raise(signal);
}
