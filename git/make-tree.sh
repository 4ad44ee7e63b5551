#!/bin/bash
# Makes a tree of /workspace inside a fresh sandbox. Arguments: `all` or `change`, the tree the index stands for, the name of
# this run's own folder, and a tree that was taken over before, or nothing.
# The work tree and the gitdir are read-only and of the host's making; results go to $out, the only writable place.
# Only plumbing is used: no porcelain walks into a nested repository and runs what its configuration names.
set -u -o pipefail
kind=$1 base=$2 out=/grokbot/tree/out/$3 adopted=$4
given=/grokbot/tree/given

unset "${!GIT_@}"
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent
export GIT_DIR=$given/gitdir GIT_WORK_TREE=/workspace GIT_INDEX_FILE=$out/index GIT_OBJECT_DIRECTORY=$out/objects
export GIT_ALTERNATE_OBJECT_DIRECTORIES=/grokbot/objects
if [[ -d /grokbot/store-objects ]]; then GIT_ALTERNATE_OBJECT_DIRECTORIES+=:/grokbot/store-objects; fi
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1
cd /workspace 2>/dev/null || { echo 'grokbot: the work tree can not be entered by its own user' >&2; exit 2; }
umask 022

# Says which folder or file could not be read, so that nothing is left out silently.
name_unreadable() {
  find . -path ./.git -prune -o -type d \( ! -readable -o ! -executable \) -print0 2>/dev/null >>"$out/unreadable"
  local path
  while IFS= read -r -d '' path; do
    [[ -L $path || -d $path || -r $path ]] || printf '%s\0' "$path"
  done < <(cat "$out/changed" "$out/untracked" "$out/chosen") >>"$out/unreadable"
  [[ ! -s $out/unreadable ]]
}

fail() {
  name_unreadable
  echo "grokbot: $1" >&2
  exit 3
}

# Tracked paths whose stat data differ from the checkout's, as `:<old mode> <new mode> <id> <id> <status>` and a path.
sort_tracked() {
  local meta path
  while IFS= read -r -d '' meta && IFS= read -r -d '' path; do
    if [[ ${meta:1:6} == 160000 ]]; then
      if [[ ${meta: -1} == D ]]; then printf '%s\0' "$path" >&5; else printf '%s\0' "$path" >&6; fi
    elif [[ ${meta:8:6} == 160000 ]]; then
      printf '%s\0' "$path" >&3
      printf '%s\0' "$path" >&5
    elif [[ ${meta: -1} == D ]]; then
      printf '%s\0' "$path" >&3
    elif [[ ! -L $path && ( -p $path || -S $path || -b $path || -c $path ) ]]; then
      printf '%s\0' "$path" >&3
      printf '%s\0' "$path" >&7
    else
      printf '%s\0' "$path" >&4
    fi
  done
}

# Untracked paths; one that ends in a slash is a nested repository, which a tree could only hold as a gitlink.
sort_untracked() {
  local path
  while IFS= read -r -d '' path; do
    if [[ $path == */ ]]; then printf '%s\0' "${path%/}" >&5; else printf '%s\0' "$path" >&4; fi
  done
}

# A submodule is checked out as an empty folder; git looks no further, so files put there are named here.
name_filled_submodules() {
  local path
  local -a content
  shopt -s nullglob dotglob
  while IFS= read -r -d '' path; do
    content=("$path"/*)
    [[ -L $path || -e $path/.git || ${#content[@]} == 0 ]] || printf '%s\0' "$path" >&5
  done <"$given/submodules"
  shopt -u nullglob dotglob
}

# The listed paths that are untracked files: found by git itself, so that none lies behind a link or in another repository.
choose_listed() {
  local path
  local -a files=() folders=()
  while IFS= read -r -d '' path; do
    if [[ -d $path && ! -L $path ]]; then folders+=("$path"); else files+=("$path"); fi
  done <"$given/include"
  list_others files
  list_others folders --exclude-standard
}

list_others() {
  local -n paths=$1
  shift
  local from
  for ((from = 0; from < ${#paths[@]}; from += 400)); do
    git --literal-pathspecs ls-files -z --others "$@" -- "${paths[@]:from:400}" 2>>"$out/errors" || return
  done
}

# Every new object with the path that leads to it, for pack-objects: it packs them against what the base has there.
list_new_objects() {
  local meta path file
  local -A path_of=()
  while IFS= read -r -d '' meta && IFS= read -r -d '' path; do
    path_of[${meta:56:40}]=${path//$'\n'/ }
  done < <(git diff-tree -r -z --raw --no-abbrev --no-renames "$base" "$tree")
  printf -- '-%s\n' "$base"
  for file in "$out"/objects/??/*; do
    [[ -e $file ]] || continue
    file=${file#"$out"/objects/}
    file=${file/\//}
    printf '%s %s\n' "$file" "${path_of[$file]-}"
  done
}

write_pack() {
  # A file above git's bigFileThreshold is written into a pack at once; then only a walk finds every object.
  local -a packs=("$out"/objects/pack/*.idx)
  if [[ -e ${packs[0]} ]]; then
    printf '%s\n^%s\n' "$tree" "$base" | git pack-objects --revs --thin --delta-base-offset --stdout -q
  else
    list_new_objects | git pack-objects --delta-base-offset --stdout -q
  fi
}

: >"$out/removed" >"$out/changed" >"$out/untracked" >"$out/chosen" >"$out/unreadable" >"$out/errors" >"$out/errors-others"
exec 5>"$out/gitlinks" 6>"$out/gitlinks-changed" 7>"$out/specials"

# Both only read, and each takes a core for as long as the tree is large.
git ls-files -z --others --exclude-standard >"$out/others" 2>"$out/errors-others" &
others=$!
git diff-files -z --raw --no-abbrev --ignore-submodules=dirty >"$out/raw" 2>"$out/errors" || fail 'the tracked files could not be compared'
sort_tracked <"$out/raw" 3>"$out/removed" 4>"$out/changed"
name_filled_submodules
wait "$others" || fail 'the untracked files could not be listed'
sort_untracked <"$out/others" 4>"$out/untracked"
if [[ -s $out/errors || -s $out/errors-others ]]; then name_unreadable || fail 'a folder could not be read'; fi

if [[ -s $out/removed ]]; then git update-index -z --force-remove --stdin <"$out/removed" || fail 'removed files could not be recorded'; fi
if [[ -s $out/changed ]]; then git update-index -z --add --replace --stdin <"$out/changed" || fail 'changed files could not be recorded'; fi
choose_listed >"$out/listed" || fail 'the listed files could not be found'
sort_untracked <"$out/listed" 4>"$out/chosen" 5>/dev/null
# Listed files are in whatever ignores them.
if [[ $kind == all ]]; then cat "$out/untracked" >>"$out/chosen"; fi
if [[ -s $out/chosen ]]; then git update-index -z --add --replace --stdin <"$out/chosen" || fail 'new files could not be recorded'; fi

tree=$(git write-tree) || fail 'the tree could not be written'
if [[ $tree != "$base" && $tree != "$adopted" ]]; then write_pack >"$out/pack" || fail 'the pack could not be written'; fi
printf '%s\n' "$tree" >"$out/tree"
printf '%s\n' "$tree"
