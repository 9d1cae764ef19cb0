# Ends the test cluster whose folder is given and removes every trace of it. May run twice, and after a part of a start.
# All its processes live below one init of a PID namespace: the kernel ends them with it, and namespaces, mounts and interfaces with them.
folder=$1
name=${folder##*/}
case $name in
lifecycle-cluster*) ;;
*) echo "$folder is not the folder of a test cluster" >&2; exit 2 ;;
esac

# The namespace is compared as well, lest the pid belong to another process by now.
lives() {
    [ "$(readlink "/proc/$1/ns/pid" 2>/dev/null)" = "$2" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}
if [ -f "$folder/init" ]; then
    read -r pid space <"$folder/init"
    if lives "$pid" "$space"; then
        kill -KILL "$pid"
        while lives "$pid" "$space"; do sleep 0.02; done
    fi
elif read -r pid <"$folder/init.pid" 2>/dev/null && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = unshare ]; then
    # The start got no further than its first process, with which its child dies.
    kill -KILL "$pid"
fi

# A control group stays busy for a moment after its last process.
tries=0
name=$(cat "$folder/group" 2>/dev/null)
while [ -n "$name" ] && groups=$(find /sys/fs/cgroup -mindepth 2 -maxdepth 2 -type d -name "$name") && [ -n "$groups" ]; do
    for group in $groups; do
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
    done
    tries=$((tries + 1))
    if [ "$tries" -gt 500 ]; then
        echo "control groups are still in use: $groups" >&2
        exit 1
    fi
    sleep 0.02
done
rm -rf "$folder"
