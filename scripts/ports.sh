# shellcheck shell=bash
# Free ports on the loopback address. Sourced by run.

declare -a PICKED_PORTS=()
declare -A PORT=()

# Below the range that the kernel gives to outgoing connections, so that only another server can come in between. The
# kernel's own table tells what is taken; asking it disturbs nobody.
free_port() {
    local port hex
    while true; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        hex=$(printf '%04X' "$port")
        if [[ -n ${PICKED_PORTS[$port]:-} ]] || grep -qsE "^ *[0-9]+: [0-9A-F]+:$hex " /proc/net/tcp /proc/net/tcp6; then
            continue
        fi
        PICKED_PORTS[port]=1
        FREE_PORT=$port
        return
    done
}

# Whether somebody accepts connections there.
port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
