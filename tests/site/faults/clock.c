/* A library to preload into every process of a site: it adds to the system's clock the seconds in the file
   BEADBOX_CLOCK, which all processes map. Debian's libfaketime also changes sleeps, and Python 3.11's then fail. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *offset;

__attribute__((constructor)) static void find(void) {
    int file = open(getenv("BEADBOX_CLOCK"), O_RDONLY);
    offset = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
}
int clock_gettime(clockid_t id, struct timespec *now) {
    int status = syscall(SYS_clock_gettime, id, now);
    if (!status && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
    return status;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int status = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec, now->tv_usec = exact.tv_nsec / 1000;
    return status;
}
time_t time(time_t *there) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (there) *there = exact.tv_sec;
    return exact.tv_sec;
}
