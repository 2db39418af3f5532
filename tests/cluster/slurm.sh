#!/bin/bash
# A study on a Slurm cluster of two nodes, both on this machine; one worker is killed in the middle. The merged result
# must be byte-equal to that of `subrosa run`.
#
#   apt-get install --no-install-recommends slurm-wlm munge      # Debian 12 or later
#   cargo build && sudo tests/cluster/slurm.sh target/debug/subrosa
#
# Needs root (Slurm does), touches nothing outside a temporary folder, and ends only what it started.
set -euo pipefail

subrosa=$(realpath "${1:-target/debug/subrosa}")
root=$(realpath "$(dirname "$0")/../..")
place=$(mktemp -d /tmp/subrosa-slurm.XXXXXX)
chmod 755 "$place"
host=$(hostname -s)
pids=()

clean() {
    code=$?
    # The workers first, by the job; then the daemons, by their numbers.
    [ -n "${job:-}" ] && scancel --signal=KILL "$job" 2>/dev/null || true
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    sleep 1
    for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    if [ $code -ne 0 ]; then
        echo "FAILED; the logs are in $place" >&2
        tail -n 20 "$place"/*.log >&2 || true
    else
        rm -rf "$place"
    fi
    exit $code
}
trap clean EXIT

wait_for() { # seconds, what, command...
    local left=$(($1 * 10)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || { echo "waited too long for $what" >&2; return 1; }
        sleep 0.1
    done
}

# munge with a key and a socket of its own.
mkdir -p "$place"/munge "$place"/state "$place"/spool-w1 "$place"/spool-w2
head -c 1024 /dev/urandom >"$place/munge/key"
chmod 400 "$place/munge/key"
munged --foreground --force --key-file="$place/munge/key" --socket="$place/munge/socket" \
    --pid-file="$place/munge/pid" --log-file="$place/munge.log" --seed-file="$place/munge/seed" 2>/dev/null &
pids+=($!)
wait_for 10 munged test -S "$place/munge/socket"

cat >"$place/slurm.conf" <<CONF
ClusterName=subrosa
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=cred_expire=5,socket=$place/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobCompType=jobcomp/filetxt
JobCompLoc=$place/jobs.txt
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
StateSaveLocation=$place/state
SlurmctldPidFile=$place/slurmctld.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdSpoolDir=$place/spool-%n
SlurmdPidFile=$place/slurmd-%n.pid
SlurmdLogFile=$place/slurmd-%n.log
NodeName=w1 NodeHostname=$host NodeAddr=127.0.0.1 Port=27001 CPUs=1 State=UNKNOWN
NodeName=w2 NodeHostname=$host NodeAddr=127.0.0.1 Port=27002 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=w1,w2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
slurmctld -D -c >/dev/null 2>&1 &
pids+=($!)
for node in w1 w2; do
    slurmd -D -N $node >/dev/null 2>&1 &
    pids+=($!)
done
both_idle() { [ "$(sinfo --noheader --Node --format='%N %t' | grep -c ' idle$')" = 2 ]; }
wait_for 60 "two idle nodes" both_idle
sinfo --Node

# The same study on one machine and on two workers.
study=("$root/tests/golden/echo.ron" --replications 2
    -o 'protocol.rounds=Each("rounds", Range(20000, 20060))')
mkdir "$place/one" "$place/two"
(cd "$place/one" && "$subrosa" run "${study[@]}" --threads 1 >/dev/null)
cd "$place/two"
folder=$("$subrosa" cluster plan "${study[@]}" --blocks 40)
job=$("$subrosa" cluster submit "$folder" --engine slurm --workers 2 --heartbeat 500ms --dead-after 3s)

finished() { find "$folder/work/results" -name '*.jsonl' | wc -l; }
some() { [ "$(finished)" -ge 8 ]; }
wait_for 120 "eight finished blocks" some
both_at_work() { [ "$(squeue --noheader --array --states=R --jobs="$job" | wc -l)" = 2 ]; }
both_at_work || { echo "the job was over before the kill: make the study longer" >&2; exit 1; }

# Kill the first element's worker without warning, by its number.
victim=
for process in /proc/[0-9]*; do
    line=$({ tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null || true)
    if [[ $line == "$subrosa cluster work $place/two/$folder --slot 0/2"* ]]; then
        victim=${process#/proc/}
    fi
done
[ -n "$victim" ]
kill -9 "$victim"
echo "killed worker $victim with $(finished) of 40 blocks finished"

gone() { [ -z "$(squeue --noheader --jobs="$job" 2>/dev/null)" ]; }
wait_for 300 "the end of the job" gone
job=
cat "$folder"/work/logs/*.log
"$subrosa" cluster status "$folder"
taken=$(find "$folder/work/claims" -name '*.1' | wc -l)
echo "blocks taken over: $taken"
[ "$taken" -ge 1 ]
grep -o 'JobState=[A-Z_]*' "$place/jobs.txt" | sort | uniq -c
"$subrosa" cluster merge "$folder" >/dev/null
diff -r "$place/one" "$place/two"
echo "OK: $(find "$folder" -type f | wc -l) files, byte-equal to those of one machine"
