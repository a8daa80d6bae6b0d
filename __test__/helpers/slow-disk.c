// Preloaded into a process, makes its disk slow: what it has written to a file takes so many
// milliseconds longer to be there for good, as IMQ_TEST_DISK_MS says.

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fdatasync(int file) {
    long delay = atol(getenv("IMQ_TEST_DISK_MS"));
    struct timespec rest = { delay / 1000, delay % 1000 * 1000000 };
    while (nanosleep(&rest, &rest) != 0) {
    }
    return syscall(SYS_fdatasync, file);
}
