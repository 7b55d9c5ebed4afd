# shellcheck shell=bash
# What the scripts say to a person. Sourced by run and test.

# Writing must never stop a script: the terminal may be gone while it still has to clean up.
say() { printf '%s\n' "$*" 2>/dev/null || true; }

step() { say "==> $*"; }

warn() { printf '%s\n' "$*" >&2 2>/dev/null || true; }

# Says what went wrong and ends the script; its own clean-up still runs.
fail() {
    warn ""
    warn "FAILED: $*"
    exit 1
}

# fail_with_log WHAT LOG: what failed, the end of its log, and where the log is.
fail_with_log() {
    warn ""
    warn "FAILED: $1"
    if [[ -s $2 ]]; then
        warn "The end of its log:"
        tail -n 15 "$2" | cut -c 1-400 | sed 's/^/    /' >&2 2>/dev/null || true
    fi
    warn "Its log is $2"
    exit 1
}
