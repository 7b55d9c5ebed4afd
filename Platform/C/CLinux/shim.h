// What Swift's own Glibc module leaves out.
#pragma once
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>

static inline int isthmus_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int isthmus_eventfd_signal(int descriptor) { return eventfd_write(descriptor, 1); }

static inline int isthmus_eventfd_drain(int descriptor) {
    eventfd_t count;
    return eventfd_read(descriptor, &count);
}

static inline double isthmus_monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int64_t isthmus_wall_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
