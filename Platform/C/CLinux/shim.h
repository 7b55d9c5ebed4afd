// What Swift's own Glibc module leaves out.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

static inline int isthmus_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int isthmus_eventfd_signal(int descriptor) { return eventfd_write(descriptor, 1); }

static inline int isthmus_eventfd_drain(int descriptor) {
    eventfd_t count;
    return eventfd_read(descriptor, &count);
}

static inline int isthmus_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

// The descriptor lies in a union of a packed structure, as do the events that come of it.
static inline int isthmus_epoll_control(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

typedef struct {
    int descriptor;
    uint32_t events;
} isthmus_epoll_event;

// As many as fit and there are.
static inline int isthmus_epoll_wait(int epoll, isthmus_epoll_event *ready, int most, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, most < 64 ? most : 64, milliseconds);
    for (int index = 0; index < count; index++) {
        ready[index].descriptor = events[index].data.fd;
        ready[index].events = events[index].events;
    }
    return count;
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
