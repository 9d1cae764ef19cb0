# Sourced by every command of a script.

# watching WHAT FIRST COMMAND ALL: `kubectl get WHAT -w`; once it has told FIRST lines the command is run, once ALL, it is ended.
watching() {
    local told=$FOLDER/told
    : >"$told"
    kubectl get $1 -w >"$told" 2>&1 &
    local watch=$!
    told_lines "$told" "$2" && eval "$3" >/dev/null && told_lines "$told" "$4"
    local enough=$?
    kill $watch
    wait $watch 2>/dev/null
    cat "$told"
    return $enough
}

told_lines() {
    local look
    for look in {1..900}; do
        [ "$(wc -l <"$1")" -ge "$2" ] && return 0
        sleep 0.1
    done
    return 1
}
