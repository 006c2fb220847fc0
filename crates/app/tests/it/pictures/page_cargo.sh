#!/bin/sh
case "$1" in
check) sleep 0.6; echo "    Checking lamp v0.3.1"; echo "    Finished dev profile in 1.2s";;
test) [ "$2" = --quiet ] && until [ -e steered ]; do sleep 0.05; done; sleep 0.8; i=1; while [ $i -le 208 ]; do echo "test part_$i ... ok"; i=$((i+1)); done
 [ "$2" = -p ] && { echo "test result: ok. 41 passed; 0 failed"; exit 0; }
 echo "test horn::sounds_twice ... FAILED"; echo "thread 'horn::sounds_twice' panicked at src/fog.rs:31: left: 1, right: 2"; echo "test result: FAILED. 13 passed; 1 failed"; exit 101;;
bench) sleep 0.5; echo "error: no bench target named horn"; exit 101;;
nextest) echo "    Compiling lamp v0.3.1"; until [ -e go ]; do sleep 0.2; done;;
*) sleep 0.3; grep -rn timer . ; echo "grep ended";;
esac
