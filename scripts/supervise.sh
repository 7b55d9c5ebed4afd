# shellcheck shell=bash
# Watching over a stack that runs. Sourced by run.

MOST_RESTARTS=${ISTHMUS_MOST_RESTARTS:-10}

# A service that ends is started again, as a container would be; one that keeps ending stops the stack. After a minute of
# peace all is forgiven.
watch_over_stack() {
    local -A restarts=() last_end=()
    local name command
    while true; do
        if read -r -t 1 -u 6 command; then obey "$command" || true; fi
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

# obey COMMAND: what a person has asked for on the simulator's page, which knows the pipe. Little can be asked: everybody
# on this machine can reach the page.
obey() {
    local what name
    read -r what name <<<"$1"
    case $what:$name in
        kill:ingress | kill:agent | kill:linq-sender | kill:apns-pusher | kill:token-registry)
            say "killing $name, as the page asks"
            kill -KILL "$(pid_of "$name")" 2>/dev/null
            ;;
        agent:coach | agent:order | agent:delivery | agent:balance | agent:checklist)
            say "restarting the agent as $name, as the page asks"
            flock -w 30 7 || return
            change_setting agent "AGENT=$name"
            stop_process agent 20
            start_one agent
            flock -u 7
            ;;
        *) warn "the page asks for what is not done: $what" ;;
    esac
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
        change_setting "$name" "$setting"
    done
    start_one "$name"
    # The others, too: without the broker they are not ready either.
    for other in "$name" "${SERVICES[@]}"; do
        ready_or_fail "$other" || fail "the port of $other was taken meanwhile"
    done
    say "$name is ready"
}

# change_setting NAME VARIABLE=VALUE: from its next start on.
change_setting() {
    local file=$RUN_DIR/settings/$1
    sed -i -e "/^${2%%=*}=/d" -e "/^${2%%=*}_FILE=/d" "$file"
    printf '%s\n' "$2" >>"$file"
}
