# shellcheck shell=bash
# Texting the running stack. Sourced by run.

SAY_FROM=+12025559876
SAY_SECONDS=20

# say_text [--from HANDLE] TEXT: as Linq would bring it; prints the reply and the Island as the phone shows it then.
say_text() {
    local from=$SAY_FROM text=""
    while (($#)); do
        case $1 in
            --from)
                (($# > 1)) || fail "--from needs a number or an e-mail address"
                from=$2
                shift
                ;;
            -*) fail "unknown option $1; see ./run --help" ;;
            *) text="${text:+$text }$1" ;;
        esac
        shift
    done
    [[ -n $text ]] || fail 'say what? For example: ./run say "just had a chicken bowl, ~600 cal"'
    if [[ ! -s $RUN_DIR/url ]] || ! is_stack_running; then
        fail "nothing runs here yet; start it with ./run in another terminal, or with ./run --detach"
    fi
    post_text "$from" "$text"
}

post_text() {
    local body answer status
    body=$(jq -n --arg from "$1" --arg text "$2" --argjson seconds "$SAY_SECONDS" \
        '{from: $from, text: $text, timeoutSeconds: $seconds}')
    answer=$(curl -sS -m $((SAY_SECONDS + 15)) -w '\n%{http_code}' -H 'Content-Type: application/json' \
        --data-binary "$body" "$(<"$RUN_DIR/url")/control/say") ||
        fail "the simulator does not answer; see ./run --status"
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
    case $status in
        200) print_answer "$2" "$answer" ;;
        504)
            warn "$(jq -r --arg seconds "$SAY_SECONDS" '
                "\(.missing | join(" and ")) did not arrive within \($seconds) s",
                if .reply then "The reply: \(.reply)" else empty end,
                "The webhook: \(.webhook)",
                (.dropped[] | "The phone dropped a push: \(.)")' <<<"$answer")"
            fail "see ./run --status for what is not ready, and the logs in $RUN_DIR/logs"
            ;;
        *) fail "the simulator refused: $(jq -r '.detail // .title // .' <<<"$answer" 2>/dev/null || echo "status $status")" ;;
    esac
}

print_answer() {
    say "You:     $1"
    jq -r '
        (.replies[] | "Reply:   \(gsub("\n"; "\n         "))"),
        if .island == null then "Island:  none"
        else
            "Island:  \(.island.attributesType), \(.island.phase)",
            (.island.contentState | to_entries[] |
                "         \(.key + ":" + (" " * ([1, 12 - (.key | length)] | max)))" +
                (.value | if type == "string" then . else tojson end))
        end,
        "         after \(.seconds * 1000 | round) ms"' <<<"$2"
}
