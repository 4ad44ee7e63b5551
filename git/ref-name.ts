/** Throws for what `git check-ref-format` would refuse: a name that reaches git is a full one and can be no option. */
export function checkRefName(ref: string): string {
  const bad = !ref.startsWith('refs/') || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$|\.lock(\/|$)|(^|\/)\./.test(ref)
  if (bad) throw new Error(`not a full ref name: ${JSON.stringify(ref)}`)
  return ref
}

/** Where a ref of the remote stands in the mirror. */
export function mirrorRef(ref: string): string {
  return `refs/grok/${ref.slice('refs/'.length)}`
}

/** A branch as people and the API write it, or a full ref. */
export function fullRef(name: string): string {
  return checkRefName(name.startsWith('refs/') ? name : `refs/heads/${name}`)
}

export function checkSha(sha: string): string {
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error(`not an object id: ${JSON.stringify(sha)}`)
  return sha
}
