#!/bin/sh
# What are schedules from other shapes worth? Makes the runs that they come from, then the
# two studies beside this file, all in the folder where it is started. When it was
# interrupted, the same command goes on.
#
#     sh reuse.sh [PROGRAM]
set -eu
here=$(dirname "$0")
program=${1:-autocomp}

# source NAME PROBLEM: makes the run, goes on with it, or has it already.
source() {
    if [ -e "$1/run.sqlite" ]; then
        "$program" optimize --resume "$1"
    else
        "$program" optimize "$2" --seed 1 --max-evaluations 60 --run-dir "$1"
    fi
}

source source-tall gemmini/gemm-12544x256x64
"$program" study "$here/reuse-tall.toml"
source source-cube gemmini/gemm-1024x1024x1024
"$program" study "$here/reuse-cube.toml"
