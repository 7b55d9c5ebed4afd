// libnghttp2, and the one socket call that Swift's Glibc module leaves out.
#pragma once
#include <nghttp2/nghttp2.h>

// Declared here and not included: <sys/socket.h> would become part of this module and vanish from Glibc's.
struct sockaddr;
extern int accept4(int descriptor, struct sockaddr *address, unsigned int *length, int flags);

static inline int isthmus_accept(int descriptor, int flags) { return accept4(descriptor, NULL, NULL, flags); }

// A session with these limits, or NULL. It copies the callbacks.
static inline nghttp2_session *isthmus_nghttp2_session(
    int is_server, const nghttp2_session_callbacks *callbacks, void *owner) {
    nghttp2_session *session = NULL;
    nghttp2_option *option = NULL;
    if (nghttp2_option_new(&option) != 0) return NULL;
    // Closed streams are only of use to priorities, which nobody here sets.
    nghttp2_option_set_no_closed_streams(option, 1);
    int status = is_server ? nghttp2_session_server_new2(&session, callbacks, owner, option)
                           : nghttp2_session_client_new2(&session, callbacks, owner, option);
    nghttp2_option_del(option);
    return status == 0 ? session : NULL;
}

// The members of the union that a frame is.
static inline nghttp2_frame_hd isthmus_frame_header(const nghttp2_frame *frame) { return frame->hd; }

static inline const nghttp2_goaway *isthmus_frame_goaway(const nghttp2_frame *frame) { return &frame->goaway; }
