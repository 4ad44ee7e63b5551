import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fault } from './fault.ts'
import { grants } from './permission.ts'
import { fullName, type Repository, type Token } from './state.ts'

/** GitHub refuses larger files, in bytes. */
const fileBytesMax = 100 * 1024 * 1024

/** What the update hook is told about this push; it knows nothing else. */
export function pushRules(repository: Repository, token: Token | null, fault: Fault | null, web: string): Record<string, string> {
  const protectedRefs = [...repository.protections].map(([branch, rule]) => {
    const words = [rule.requirePullRequest ? 'pr' : '-', rule.allowForcePushes ? 'force' : '-', rule.requireSignatures ? 'signed' : '-']
    return `${words.join(',')},refs/heads/${branch}`
  })
  const rules = repository.rulesets.flatMap(each => each.branches.flatMap(branch => each.rules.map(rule => `${rule},refs/heads/${branch}`)))
  const mayWorkflows = token?.kind !== 'installation' || grants(token.permissions, 'workflows', 'write')
  return {
    FAKE_PROTECTED: protectedRefs.join('\n'),
    FAKE_RULES: rules.join('\n'),
    FAKE_SIGNED: [...repository.signedCommits.keys()].join('\n'),
    FAKE_WORKFLOWS: mayWorkflows ? 'allow' : 'refuse',
    FAKE_REPOSITORY_URL: `${web}/${fullName(repository)}`,
    FAKE_FILE_BYTES_MAX: String(fileBytesMax),
    FAKE_DECLINE: fault?.kind === 'decline' ? fault.reason : '',
    FAKE_DECLINE_TEXT: fault?.kind === 'decline' ? (fault.message ?? '') : '',
  }
}

export function hooksFolder(repositoryFolder: string): string {
  return join(repositoryFolder, '..', '..', '..', 'hooks')
}

/** The hook is one for all repositories; the texts are the ones people see on GitHub. */
export async function writeHooks(folder: string): Promise<void> {
  await mkdir(join(folder, 'hooks'), { recursive: true })
  const path = join(folder, 'hooks', 'update')
  await writeFile(path, updateHook)
  await chmod(path, 0o755)
}

const updateHook = String.raw`#!/bin/sh
# Plays GitHub's checks of one ref: arguments are the ref, its old and its new object.
ref=$1 old=$2 new=$3
zero=0000000000000000000000000000000000000000
say() { printf '%s\n' "$@" >&2; }
decline() { printf '%s\t%s\n' "$ref" "$1" >> "$FAKE_REASONS"; exit 1; }
protected() {
  say "error: GH006: Protected branch update failed for $ref." "" "- $1"
  decline 'protected branch hook declined'
}
rules() {
  say "error: GH013: Repository rule violations found for $ref."
  say "Review all repository rules at $FAKE_REPOSITORY_URL/rules?ref=$(printf %s "$ref" | sed 's|/|%2F|g')" "" "$1"
  decline 'push declined due to repository rule violations'
}
# Commits that are new to the ref and that GitHub did not sign.
unsigned() {
  [ "$new" = "$zero" ] && return
  if [ "$old" = "$zero" ]; then git rev-list "$new" --not --branches; else git rev-list "$new" "^$old"; fi |
    while read -r sha; do case $FAKE_SIGNED in *$sha*) ;; *) echo "$sha" ;; esac; done
}
signatures() {
  count=$(printf '%s\n' "$1" | wc -l)
  printf '%s\n' 'Commits must have verified signatures.' "  Found $((count)) violation$([ "$count" -eq 1 ] || echo s):" ''
  printf '%s\n' "$1" | sed 's/^/  /; s/$/\n/'
}
workflows() {
  decline "refusing to allow a GitHub App to create or update workflow \`$1\` without \`workflows\` permission"
}
large() {
  say "error: See https://gh.io/lfs for more information." "error: File $1 is $2 MB; this exceeds GitHub's file size limit of 100.00 MB"
  say "error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com."
  decline 'pre-receive hook declined'
}

case $FAKE_DECLINE in
  protected) protected "\${FAKE_DECLINE_TEXT:-Changes must be made through a pull request.}" ;;
  workflows) workflows "\${FAKE_DECLINE_TEXT:-.github/workflows/ci.yml}" ;;
  rules) rules "- \${FAKE_DECLINE_TEXT:-Commits must have verified signatures.}" ;;
  secret) rules "- \${FAKE_DECLINE_TEXT:-Push cannot contain secrets}" ;;
  large-file) large "\${FAKE_DECLINE_TEXT:-big.bin}" 101.00 ;;
  other) decline "\${FAKE_DECLINE_TEXT:-pre-receive hook declined}" ;;
esac

set -f
for entry in $FAKE_PROTECTED; do
  [ "\${entry#*,*,*,}" = "$ref" ] || continue
  [ "$new" = "$zero" ] && protected 'Cannot delete this branch'
  case $entry in pr,*) protected 'Changes must be made through a pull request.' ;; esac
  case $entry in
    *,force,*,*) ;;
    *) [ "$old" = "$zero" ] || git merge-base --is-ancestor "$old" "$new" || protected 'Cannot force-push to this branch' ;;
  esac
  case $entry in *,signed,*) [ -z "$(unsigned)" ] || protected 'Commits must have verified signatures.' ;; esac
done

broken=
for entry in $FAKE_RULES; do
  case $ref in \${entry#*,}) ;; *) continue ;; esac
  text=
  case \${entry%%,*} in
    creation) [ "$old" = "$zero" ] && text='Cannot create ref due to creations being restricted.' ;;
    deletion) [ "$new" = "$zero" ] && text='Cannot delete this branch' ;;
    non_fast_forward)
      [ "$old" = "$zero" ] || [ "$new" = "$zero" ] || git merge-base --is-ancestor "$old" "$new" || text='Cannot force-push to this branch' ;;
    pull_request) [ "$old" = "$zero" ] || [ "$new" = "$zero" ] || text='Changes must be made through a pull request.' ;;
    required_signatures)
      shas=$(unsigned)
      [ -z "$shas" ] || text=$(signatures "$shas") ;;
  esac
  [ -z "$text" ] || broken="$broken- $text
"
done
[ -z "$broken" ] || rules "$broken"

if [ "$new" = "$zero" ]; then
  [ "$ref" = "$(git symbolic-ref HEAD)" ] && decline "refusing to delete the current branch: $ref"
  exit 0
fi

if [ "$FAKE_WORKFLOWS" = refuse ]; then
  path=$(git -c core.quotePath=false log -m --first-parent --format= --name-only "$new" --not --branches -- .github/workflows | head -n 1)
  [ -n "$path" ] && workflows "$path"
fi

big=$(git rev-list --objects "$new" --not --branches |
  git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' |
  awk -v max="$FAKE_FILE_BYTES_MAX" '$1 == "blob" && $2 > max { printf "%.2f ", $2 / 1048576; sub(/^[^ ]+ [^ ]+ /, ""); print; exit }')
[ -n "$big" ] && large "\${big#* }" "\${big%% *}"

case $ref in
  refs/heads/*)
    [ "$old" = "$zero" ] && say "" "Create a pull request for '\${ref#refs/heads/}' on GitHub by visiting:" "     $FAKE_REPOSITORY_URL/pull/new/\${ref#refs/heads/}" "" ;;
esac
exit 0
`.replaceAll('\\${', '${')
