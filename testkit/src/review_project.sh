#!/bin/sh
# Makes a repository with thousands of files and fast tests of its own, in the directory of this
# process. The number of files is the first argument.
#
# The tests want a heading in every file of src, and no yes in bools.txt while strict.txt is strict.
set -eu
files=$1
mkdir -p src
number=0
while [ "$number" -lt "$files" ]; do
  folder=src/part-$((number / 50))
  [ $((number % 50)) -ne 0 ] || mkdir -p "$folder"
  name=$folder/file-$number.txt
  printf '# %s\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n' "$name" > "$name"
  number=$((number + 1))
done
for name in app strict bools claim old mine; do
  printf '# src/%s.txt\none\ntwo\nthree\nfour\nfive\n' "$name" > "src/$name.txt"
done
printf 'one 1.0\n' > Cargo.lock
printf '*.log\n' > .gitignore
cat > tests.sh <<'TESTS'
exec awk '
  FNR == 1 { count++; if ($0 != "# " FILENAME) { print FILENAME " has no heading"; failed = 1 } }
  FILENAME == "src/strict.txt" && /^strict=on/ { strict = 1 }
  FILENAME == "src/bools.txt" && /^answer=yes/ { yes = 1 }
  END {
    if (strict && yes) { print "FAILED: strict rules stand no yes and no"; exit 101 }
    if (failed) exit 1
    print count " passed"
  }' $(find src -name '*.txt' | sort)
TESTS
git add -A -- . ':!.pi'
git -c user.name=Ada -c user.email=ada@example.com commit --quiet -m "a large project"
