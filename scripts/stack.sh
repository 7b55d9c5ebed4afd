# shellcheck shell=bash
# The whole stack: in which order it starts, with which settings, and how it ends. Sourced by run.

# In the order they start; they end in the reverse one. The simulator is the world outside: there before the services,
# and still there while they finish what they have in hand.
PROCESSES=(epmd rabbitmq redis simulator token-registry apns-pusher linq-sender agent ingress)
SERVICES=(simulator token-registry apns-pusher linq-sender agent ingress)

# Settings that a person may give to ./run in its environment; --restart takes any other.
PASSED_ON=(AGENT AGENT_MODEL_URL AGENT_MODEL AGENT_MODEL_KEY AGENT_HTTP_SECRET AGENT_KIND AGENT_TIMEOUT SESSION_IDLE
    STALE_AFTER LINQ_REPLY_VIA LINQ_TYPING LINQ_READ_RECEIPTS LOG_LEVEL OTEL_EXPORTER_OTLP_ENDPOINT
    OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_RESOURCE_ATTRIBUTES OTEL_TRACES_SAMPLER
    OTEL_TRACES_SAMPLER_ARG)

PORT_NAMES=(amqp management broker-metrics dist epmd redis simulator apns ingress registry
    ingress-admin agent-admin linq-sender-admin apns-pusher-admin token-registry-admin)

pick_ports() {
    local name
    for name in "${PORT_NAMES[@]}"; do
        free_port
        PORT["$name"]=$FREE_PORT
    done
}

# What --restart has to know of the stack that it finds running.
save_stack() { declare -p BIN PARTITIONS PORT | sed -e 's/^declare --/declare -g/' -e 's/^declare -A/declare -gA/' >"$RUN_DIR/stack"; }

load_stack() {
    # shellcheck source=/dev/null
    source "$RUN_DIR/stack"
}

# Keys, certificates and secrets, made once by the simulator, which plays Linq and Apple.
prepare_secrets() {
    [[ -e $RUN_DIR/secrets/prepared ]] && return
    "$BIN/simulator" prepare "$RUN_DIR/secrets" >"$RUN_DIR/logs/prepare.log" 2>&1 ||
        fail_with_log "simulator prepare" "$RUN_DIR/logs/prepare.log"
    touch "$RUN_DIR/secrets/prepared"
}

# write_settings NAME VARIABLE=VALUE…: what start_service hands to it. CLOCK_FILE lets a test move the clocks; it costs each
# look at a clock a look at the file, and so is off where the environment has it empty.
write_settings() {
    local name=$1 variable
    shift
    {
        printf '%s\n' "$@" CLOCK_FILE="${CLOCK_FILE-$RUN_DIR/clock}"
        for variable in "${PASSED_ON[@]}"; do
            if [[ -n ${!variable:-} ]]; then printf '%s=%s\n' "$variable" "${!variable}"; fi
        done
    } >"$RUN_DIR/settings/$name"
}

# write_service NAME VARIABLE=VALUE…: likewise, for one that works with the broker, as a user of its own. The simulator is
# the collector of its spans, for the page, unless the environment names another.
write_service() {
    write_settings "$1" AMQP_URL="$(broker_url "$1")" PARTITIONS="$PARTITIONS" \
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:${PORT[simulator]}" "${@:2}"
}

# database_url NAME: a file for each, or one database for all that keep something.
database_url() { printf '%s' "${ISTHMUS_DATABASE_URL:-sqlite:$RUN_DIR/data/$1.sqlite}"; }

write_all_settings() {
    local secrets=$RUN_DIR/secrets redis linq apns sign_in keys
    redis="REDIS_URL=redis://:$(broker_password redis)@127.0.0.1:${PORT[redis]}/0"
    linq="LINQ_API_TOKEN_FILE=$secrets/linq-token"
    apns=(APNS_TEAM_ID=ISTHMUSDEV APNS_KEY_ID=LOCALKEY01 APNS_KEY_FILE="$secrets/apns-key.p8"
        APNS_BUNDLE_ID=com.example.isthmus)
    sign_in=(REGISTRY_JWT_ISSUER=isthmus-simulator REGISTRY_JWT_AUDIENCE=token-registry)
    keys=(DATA_KEY_FILES="$secrets/data-key" HASH_KEY_FILE="$secrets/hash-key")

    write_settings simulator "$linq" "${apns[@]}" "${sign_in[@]}" SIMULATOR_LISTEN="127.0.0.1:${PORT[simulator]}" \
        SIMULATOR_APNS_LISTEN="127.0.0.1:${PORT[apns]}" SIMULATOR_DIRECTORY="$secrets" \
        SIMULATOR_INGRESS_URL="http://127.0.0.1:${PORT[ingress]}/webhooks/linq" \
        SIMULATOR_REGISTRY_URL="http://127.0.0.1:${PORT[registry]}" \
        SIMULATOR_BROKER_URL="http://127.0.0.1:${PORT[broker-metrics]}" \
        SIMULATOR_SUPERVISOR="$RUN_DIR/commands" \
        SIMULATOR_BACKEND_KEY_FILE="$secrets/backend-key" LINQ_WEBHOOK_SECRETS_FILE="$secrets/webhook-secret"
    write_service token-registry "$redis" "${keys[@]}" "${sign_in[@]}" \
        DATABASE_URL="$(database_url registry)" HTTP_LISTEN="127.0.0.1:${PORT[registry]}" \
        REGISTRY_BACKEND_KEYS_FILE="$secrets/backend-key" REGISTRY_JWT_KEYS_FILE="$secrets/jwks.json" \
        METRICS_LISTEN="127.0.0.1:${PORT[token-registry-admin]}"
    write_service apns-pusher "$redis" "${keys[@]}" "${apns[@]}" \
        APNS_URL="https://localhost:${PORT[apns]}" APNS_CA_FILE="$secrets/ca.pem" \
        METRICS_LISTEN="127.0.0.1:${PORT[apns-pusher-admin]}"
    write_service linq-sender "$linq" "${keys[@]}" \
        LINQ_API_URL="http://127.0.0.1:${PORT[simulator]}/api/partner" \
        METRICS_LISTEN="127.0.0.1:${PORT[linq-sender-admin]}"
    write_service agent "$redis" "${keys[@]}" DATABASE_URL="$(database_url agent)" \
        METRICS_LISTEN="127.0.0.1:${PORT[agent-admin]}"
    write_service ingress "${keys[@]}" HTTP_LISTEN="127.0.0.1:${PORT[ingress]}" \
        LINQ_WEBHOOK_SECRETS_FILE="$secrets/webhook-secret" EVENTS_WEBHOOK_SECRETS_FILE="$secrets/events-secret" \
        METRICS_LISTEN="127.0.0.1:${PORT[ingress-admin]}"
}

# start_one NAME: a server or a service; the latter with what its settings file says now.
start_one() {
    local settings
    case $1 in
        epmd | rabbitmq | redis) "start_$1" ;;
        *)
            mapfile -t settings <"$RUN_DIR/settings/$1"
            start_process "$1" PATH="$PATH" LANG=C.UTF-8 TZ="${TZ:-}" "${settings[@]}" "$BIN/$1"
            ;;
    esac
}

# Where NAME says whether it is ready.
ready_url() {
    local listen
    listen=$(sed -n -e 's/^METRICS_LISTEN=//p' -e 's/^SIMULATOR_LISTEN=//p' "$RUN_DIR/settings/$1")
    printf 'http://%s/readyz\n' "$listen"
}

is_ready() {
    case $1 in
        epmd | rabbitmq | redis) "$1_is_ready" ;;
        *) curl -sf -m 2 -o /dev/null "$(ready_url "$1")" ;;
    esac
}

# wait_until_ready NAME SECONDS: 0 ready, 1 it ended, 2 the time is over.
wait_until_ready() {
    local deadline=$((SECONDS + $2))
    while is_running "$1"; do
        if is_ready "$1"; then return 0; fi
        ((SECONDS < deadline)) || return 2
        sleep 0.1
    done
    return 1
}

# ready_or_fail NAME: returns 1 if its port was taken meanwhile, so that it is worth another try with other ports.
ready_or_fail() {
    local name=$1 log=$RUN_DIR/logs/$1.log outcome=0
    wait_until_ready "$name" 60 || outcome=$?
    case $outcome in
        0) return 0 ;;
        1)
            # Only epmd does not say why it ends; there is hardly another reason.
            if [[ $name == epmd ]] || grep -qiE 'address already in use|eaddrinuse' "$log"; then return 1; fi
            fail_with_log "$name ended while it started" "$log"
            ;;
        *)
            warn "$name says: $(curl -s -m 2 "$(ready_url "$name" 2>/dev/null)" 2>/dev/null | head -c 600)"
            fail_with_log "$name is not ready after 60 s" "$log"
            ;;
    esac
}

# Servers one after the other, each needing the one before; then all services at once, which wait for each other.
start_all() {
    local name
    for name in epmd rabbitmq redis; do
        step "starting $name"
        start_one "$name"
        ready_or_fail "$name" || return 1
    done
    step "starting ${SERVICES[*]}"
    for name in "${SERVICES[@]}"; do start_one "$name"; done
    for name in "${SERVICES[@]}"; do
        ready_or_fail "$name" || return 1
        say "    $name is ready"
    done
    # Somebody else may have answered in the place of one that ended because its port was taken.
    for name in "${PROCESSES[@]}"; do ready_or_fail "$name" || return 1; done
}

# So that a log tells of this start alone.
set_logs_aside() {
    local name log
    for name in "${PROCESSES[@]}"; do
        log=$RUN_DIR/logs/$name.log
        if [[ -e $log ]]; then mv "$log" "$log.previous"; fi
    done
}

# The simulator keeps nothing: its people and phones are gone with it, so what was known of them has to go, too.
start_stack() {
    local try
    rm -rf "$RUN_DIR/data" "$RUN_DIR/clock"
    make_broker_passwords
    prepare_secrets
    for try in 1 2 3; do
        set_logs_aside
        mkdir -p "$RUN_DIR/data"
        pick_ports
        write_broker_config
        write_all_settings
        save_stack
        if start_all; then return; fi
        say "    a port was taken meanwhile; trying others ($try of 3)"
        stop_stack
    done
    fail "no free ports found in three tries"
}

# Everything of this folder that runs, in the reverse order; also what a killed ./run left.
stop_stack() {
    local index name
    for ((index = ${#PROCESSES[@]} - 1; index >= 0; index--)); do
        name=${PROCESSES[index]}
        if is_running "$name"; then say "    stopping $name"; fi
        stop_process "$name" 20
    done
}
