// Only the command formatter and the reply reader are used: this hiredis has no TLS, so the socket is ours.
#pragma once
#include <hiredis/hiredis.h>
