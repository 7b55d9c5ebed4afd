# shellcheck shell=bash
# The broker's users with their passwords, as RabbitMQ definitions. Sourced by run and infra/docker/make-secrets.
#
# What each may do is in infra/rabbitmq/permissions.json, which the broker imports after these.

# One for each service, one for who looks after parked messages, one for who counts queues.
BROKER_USERS=(ingress agent linq-sender apns-pusher token-registry operator monitor)

# random_hex BYTES
random_hex() { od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

# password_hash PASSWORD: as RabbitMQ keeps it, Base64 of a salt and the SHA-256 of salt and password.
password_hash() {
    local salt
    salt=$(random_hex 4 | sed 's/../\\x&/g')
    {
        printf '%b' "$salt"
        { printf '%b%s' "$salt" "$1"; } | openssl dgst -sha256 -binary
    } | base64 -w 0
}

# broker_users NAME=PASSWORD[=TAG]…: the definitions of these users. A user without a tag has no business with the
# management API.
broker_users() {
    local user name password tags comma=""
    printf '{"users": ['
    for user in "$@"; do
        IFS== read -r name password tags <<<"$user"
        printf '%s\n  {"name": "%s", "password_hash": "%s", "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": [%s]}' \
            "$comma" "$name" "$(password_hash "$password")" "${tags:+\"$tags\"}"
        comma=,
    done
    printf '\n]}\n'
}

# The tag that a user of BROKER_USERS has.
broker_tag() { case $1 in operator | monitor) echo monitoring ;; esac }
