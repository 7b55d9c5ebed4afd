// curl_easy_setopt and friends are variadic, which Swift cannot call.
#pragma once
#include <curl/curl.h>

static inline CURLcode isthmus_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode isthmus_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode isthmus_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the body.
static inline CURLcode isthmus_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POST, 1L);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes ? bytes : "");
}

typedef size_t (*isthmus_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode isthmus_curl_set_callbacks(
    CURL *handle, isthmus_curl_receiver header, isthmus_curl_receiver body, curl_prereq_callback before,
    void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, before);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
    return code ? code : curl_easy_setopt(handle, CURLOPT_PRIVATE, context);
}

static inline long isthmus_curl_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) ? 0 : value;
}

static inline void *isthmus_curl_private(CURL *handle) {
    char *value = 0;
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value) ? 0 : value;
}

static inline CURLMcode isthmus_curl_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}

// A macro with a cast.
static const curl_socket_t isthmus_curl_socket_timeout = CURL_SOCKET_TIMEOUT;

static inline CURLMcode isthmus_curl_multi_set_sockets(CURLM *handle, curl_socket_callback changed, void *context) {
    CURLMcode code = curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, changed);
    return code ? code : curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, context);
}

// The result lies in a union.
static inline CURLcode isthmus_curl_result(const CURLMsg *message) { return message->data.result; }
