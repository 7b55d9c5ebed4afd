# shellcheck shell=bash
# A private RabbitMQ and a private Redis, on loopback ports and with everything they write under $RUN_DIR. Sourced by run.

rabbitmq_server=/usr/lib/rabbitmq/bin/rabbitmq-server  # Debian's own in /usr/sbin changes to the user rabbitmq

# A password for each of the broker's users, one for Redis, and one for who administers this broker: a person who looks
# at its pages, a test that looks behind the services. Every user of the machine can reach a loopback port.
make_broker_passwords() {
    local name
    for name in redis admin "${BROKER_USERS[@]}"; do
        random_hex 24 >"$RUN_DIR/secrets/broker-$name"
    done
}

# broker_password NAME
broker_password() { printf '%s' "$(<"$RUN_DIR/secrets/broker-$1")"; }

# broker_url NAME
broker_url() { printf 'amqp://%s:%s@127.0.0.1:%s/' "$1" "$(broker_password "$1")" "${PORT[amqp]}"; }

# Users, then topology, then rights: the broker takes the files of a folder in the order of their names.
write_broker_definitions() {
    local dir=$RUN_DIR/data/rabbitmq/definitions name users=()
    mkdir -p "$dir"
    for name in "${BROKER_USERS[@]}"; do users+=("$name=$(broker_password "$name")=$(broker_tag "$name")"); done
    broker_users "${users[@]}" "admin=$(broker_password admin)=administrator" >"$dir/10-users.json"
    "$BIN/islandctl" topology --partitions "$PARTITIONS" >"$dir/20-topology.json" 2>"$RUN_DIR/logs/islandctl.log" ||
        fail_with_log "islandctl topology" "$RUN_DIR/logs/islandctl.log"
    cp "$ROOT/infra/rabbitmq/permissions.json" "$dir/30-permissions.json"
    printf '{"permissions": [{"user": "admin", "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"}]}\n' \
        >"$dir/40-admin.json"
}

write_broker_config() {
    local dir=$RUN_DIR/data/rabbitmq
    mkdir -p "$dir/home"
    write_broker_definitions
    {
        grep -E '^(heartbeat|consumer_timeout|max_message_size|channel_max|connection_max|raft)' \
            "$ROOT/infra/rabbitmq/rabbitmq.conf"
        echo "listeners.tcp.default = 127.0.0.1:${PORT[amqp]}"
        echo "management.tcp.ip = 127.0.0.1"
        echo "management.tcp.port = ${PORT[management]}"
        echo "prometheus.tcp.ip = 127.0.0.1"
        echo "prometheus.tcp.port = ${PORT[broker-metrics]}"
        echo "load_definitions = $dir/definitions"
        echo "disk_free_limit.absolute = 200MB"
        # The page shows the depths of the queues as they are, not as they were five seconds ago.
        echo "collect_statistics_interval = 1000"
    } >"$dir/rabbitmq.conf"
    echo "[{rabbit, [{quorum_tick_interval, 1000}]}]." >"$dir/advanced.config"
}

# Erlang's port mapper, which a broker would otherwise start itself and leave behind.
start_epmd() {
    start_process epmd PATH="$PATH" HOME="$RUN_DIR/data/rabbitmq/home" epmd -address 127.0.0.1 -port "${PORT[epmd]}"
}

start_rabbitmq() {
    local dir=$RUN_DIR/data/rabbitmq
    start_process rabbitmq PATH="$PATH" LANG=C.UTF-8 HOME="$dir/home" RABBITMQ_NODENAME=isthmus@localhost \
        RABBITMQ_MNESIA_BASE="$dir/mnesia" RABBITMQ_LOG_BASE="$RUN_DIR/logs" RABBITMQ_LOGS=- \
        RABBITMQ_CONFIG_FILE="$dir/rabbitmq" RABBITMQ_ADVANCED_CONFIG_FILE="$dir/advanced.config" \
        RABBITMQ_CONF_ENV_FILE="$dir/none" RABBITMQ_ENABLED_PLUGINS_FILE="$ROOT/infra/rabbitmq/enabled_plugins" \
        RABBITMQ_DIST_PORT="${PORT[dist]}" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="${PORT[epmd]}" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none" "$rabbitmq_server"
}

# log_says NAME BEGIN READY: whether its log has the line READY after the last line BEGIN. An open port says less: it may
# be somebody else's.
log_says() {
    awk -v begin="$2" -v ready="$3" \
        '$0 ~ begin { up = 0 } $0 ~ ready { up = 1 } END { exit !up }' "$RUN_DIR/logs/$1.log"
}

epmd_is_ready() { port_answers "${PORT[epmd]}"; }
rabbitmq_is_ready() { log_says rabbitmq 'Starting RabbitMQ' 'Server startup complete'; }

start_redis() {
    local dir=$RUN_DIR/data/redis
    mkdir -p "$dir"
    printf '%s\n' "bind 127.0.0.1" "port ${PORT[redis]}" "dir $dir" "requirepass $(broker_password redis)" 'save ""' \
        "appendonly no" "maxmemory 128mb" "maxmemory-policy allkeys-lru" >"$dir/redis.conf"
    start_process redis PATH="$PATH" redis-server "$dir/redis.conf"
}

redis_is_ready() { log_says redis 'Redis is starting' 'Ready to accept connections'; }
