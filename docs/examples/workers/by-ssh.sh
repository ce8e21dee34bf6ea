#!/bin/sh
# Starts a worker on each machine named, and ends them all with Ctrl-C.
#
#   by-ssh.sh nats://HOST worker.toml MACHINE...
#
# autocomp has to be on the machines' PATH. The access file and the files that it names are copied
# into a folder that only the user can read, which goes when the worker ends.
set -eu
queue=$1 access=$2
shift 2
folder=$(dirname "$access") file=$(basename "$access")
# Whatever happens, those that were started end, and no key stays behind.
started= places=
end() {
  trap - EXIT INT TERM
  kill $started 2>/dev/null || true
  wait
  for it in $places; do ssh "${it%%:*}" "rm -rf ${it#*:}" || true; done
}
trap end EXIT INT TERM
for machine in "$@"; do
  # Paths of an access file are relative to it.
  named=$(sed -n 's/^ *\(nkey\|password\|credentials\|authorities\|certificate\|key\) *= *"\(.*\)".*/\2/p' "$access")
  place=$(ssh "$machine" 'umask 077 && mktemp -d')
  places="$places $machine:$place"
  tar -C "$folder" -cf - "$file" $named | ssh "$machine" "tar -C $place -xf -"
  # A terminal, so that the worker ends with the connection.
  ssh -tt "$machine" "trap 'rm -rf $place' EXIT; autocomp worker --queue $queue --queue-access $place/$file" &
  started="$started $!"
done
wait
