# shellcheck shell=bash
# Watching over a stack that runs. Sourced by run.

MOST_RESTARTS=10

# A service that ends is started again, as a container would be; one that keeps ending stops the stack. After a minute of
# peace all is forgiven.
watch_over_stack() {
    local -A restarts=() last_end=()
    local name
    while true; do
        sleep 1 7>&- 9>&- &
        wait $! || true
        for name in "${PROCESSES[@]}"; do
            # Not while --restart has it in hand.
            flock -n 7 || break
            if ! is_running "$name"; then
                ((SECONDS - ${last_end[$name]:-0} < 60)) || restarts[$name]=0
                last_end[$name]=$SECONDS
                restarts[$name]=$((${restarts[$name]:-0} + 1))
                ((restarts[$name] <= MOST_RESTARTS)) ||
                    fail_with_log "$name ended once more, after $MOST_RESTARTS restarts" "$RUN_DIR/logs/$name.log"
                say "$name ended; starting it again. Its log is $RUN_DIR/logs/$name.log"
                start_one "$name"
            fi
            flock -u 7
        done
    done
}

# restart NAME [VARIABLE=VALUE…]: stops one process and starts it, with settings changed if any are given.
restart_process() {
    (($#)) || fail "restart what? One of ${PROCESSES[*]}"
    local name=$1 other setting file=$RUN_DIR/settings/$1
    shift
    make_folders
    [[ " ${PROCESSES[*]} " == *" $name "* ]] || fail "there is no $name; there are ${PROCESSES[*]}"
    is_stack_running || fail "nothing runs in $RUN_DIR; start it with ./run or ./run --detach"
    [[ $# == 0 || -e $file ]] || fail "$name has no settings"
    flock -w 30 7 || fail "somebody else holds $RUN_DIR/restart.lock"
    load_stack
    stop_process "$name" 20
    for setting in "$@"; do
        [[ $setting == [A-Z]*=* ]] || fail "$setting is not VARIABLE=VALUE"
        sed -i -e "/^${setting%%=*}=/d" -e "/^${setting%%=*}_FILE=/d" "$file"
        printf '%s\n' "$setting" >>"$file"
    done
    start_one "$name"
    # The others, too: without the broker they are not ready either.
    for other in "$name" "${SERVICES[@]}"; do
        ready_or_fail "$other" || fail "the port of $other was taken meanwhile"
    done
    say "$name is ready"
}
