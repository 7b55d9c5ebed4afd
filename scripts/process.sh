# shellcheck shell=bash
# Starting and ending processes by their own id. Sourced by run.
#
# $RUN_DIR/pids/NAME holds the process id and the time it started at: an id alone may by now be somebody else's. Each
# process leads a session of its own, so that Ctrl-C in the terminal reaches only ./run, which then ends them in order.

# The start time (22nd field) of a process that runs; nothing for one that is gone or only waits to be reaped.
start_time() {
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    read -r -a fields <<<"${stat##*) }"
    if [[ ${fields[0]} != Z ]]; then printf '%s\n' "${fields[19]}"; fi
}

# start_process NAME [VARIABLE=VALUE…] COMMAND…: with just this environment, its output appended to logs/NAME.log.
start_process() {
    local name=$1 pid
    shift
    # The locks (7, 9) must not be inherited: they are held for as long as anybody has them open; nor the page's pipe (6).
    setsid env -i "$@" </dev/null >>"$RUN_DIR/logs/$name.log" 2>&1 6>&- 7>&- 9>&- &
    pid=$!
    # Without this the shell would write a line of its own when the process is killed.
    disown "$pid"
    printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$RUN_DIR/pids/$name"
}

# The process id of NAME, if that process still runs.
pid_of() {
    local pid started
    { read -r pid started <"$RUN_DIR/pids/$1"; } 2>/dev/null || return 0
    if [[ -n $started && $(start_time "$pid") == "$started" ]]; then printf '%s\n' "$pid"; fi
}

is_running() { [[ -n $(pid_of "$1") ]]; }

# stop_process NAME SECONDS: asks it to end, waits, then ends it and its children.
stop_process() {
    local name=$1 seconds=$2 pid deadline
    pid=$(pid_of "$name")
    if [[ -n $pid ]]; then
        kill -TERM "$pid" 2>/dev/null || true
        deadline=$((SECONDS + seconds))
        while is_running "$name" && ((SECONDS < deadline)) && [[ -z ${END_AT_ONCE:-} ]]; do sleep 0.1; done
        if is_running "$name"; then
            say "    killing $name: it has not ended by itself"
            kill -KILL -- "-$pid" 2>/dev/null || true
        fi
    fi
    rm -f "$RUN_DIR/pids/$name"
}
