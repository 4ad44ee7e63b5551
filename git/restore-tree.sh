#!/bin/bash
# Brings /workspace to a tree inside a fresh sandbox: tracked files, and new ones that are not ignored; what is ignored
# (dependencies that setup made) stays. Argument: the tree. The gitdir is of the host's making; $out holds the index.
set -u -o pipefail
tree=$1
given=/grokbot/restore/given out=/grokbot/restore/out

unset "${!GIT_@}"
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent
export GIT_DIR=$given/gitdir GIT_WORK_TREE=/workspace GIT_INDEX_FILE=$out/index GIT_OBJECT_DIRECTORY=$out/objects
export GIT_ALTERNATE_OBJECT_DIRECTORIES=/grokbot/objects
if [[ -d /grokbot/store-objects ]]; then GIT_ALTERNATE_OBJECT_DIRECTORIES+=:/grokbot/store-objects; fi
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1
cd / && chmod u+rwx /workspace 2>/dev/null
cd /workspace || exit 2

fail() {
  echo "grokbot: $1" >&2
  exit 3
}

# A folder without its rights would keep what is in it; pipes, sockets and devices are in no tree and never ignored by git.
find . -path ./.git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \;
find . -path ./.git -prune -o \( -type p -o -type s -o -type b -o -type c \) -exec rm -f -- {} + || fail 'a pipe could not be removed'

# One-way and with stat data looked at again: a file that only looks unchanged in the index is written too.
git read-tree --reset -u --no-recurse-submodules "$tree" || fail 'the tree could not be checked out'
git ls-files -z --others --exclude-standard >"$out/others" || fail 'the untracked files could not be listed'
while IFS= read -r -d '' path; do
  # A nested repository is in no snapshot: it is left as it is.
  [[ $path == */ ]] || rm -f -- "./$path" || fail 'a file that is not in the tree could not be removed'
done <"$out/others"
printf '%s\n' "$tree"
