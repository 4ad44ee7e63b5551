/** A symbolic link of a tree, both sides folded and cut at the slashes; no parts at all are the root. */
export type LinkPlace = { path: readonly string[]; target: readonly string[] }
export type GuardedPlace = { path: readonly string[]; reason: string }

/** One name in a tree of names: where the links at it lead, and why it is guarded, if it is. */
type Place = { inside: Map<string, Place>; targets: (readonly string[])[]; reason: string | null }

/**
 * Every place the guarded ones stand for when they, a folder above them or a part of them are links: writing there is
 * writing to the guarded name. Returns why a path lies in one, or null. Null instead of an answer when the links lead on
 * over more than `partsMax` parts of paths: then nothing can be said of any path, and the caller must not take it for
 * "not guarded". Each place is gone through once, however the links lie.
 */
export function followLinks(
  links: readonly LinkPlace[],
  guarded: readonly GuardedPlace[],
  partsMax: number,
): ((path: readonly string[]) => string | null) | null {
  const root = newPlace()
  for (const { path, target } of links) reach(root, path).targets.push(target)
  const waiting: GuardedPlace[] = []
  let parts = 0
  const wait = (path: readonly string[], reason: string) => {
    parts += path.length + 1
    if (parts <= partsMax) waiting.push({ path, reason })
  }
  for (const { path, reason } of guarded) wait(path, reason)
  // What is found on the way waits in the same list: the loop ends when nothing new comes, or at the limit.
  for (const { path, reason } of waiting) {
    if (parts > partsMax) break
    if (reasonAt(root, path) !== null) continue
    const place = reach(root, path, (above, rest) => {
      for (const target of above.targets) wait([...target, ...rest], reason)
    })
    for (const target of targetsInside(place)) wait(target, reason)
    place.reason = reason
  }
  return parts > partsMax ? null : path => reasonAt(root, path)
}

function newPlace(): Place {
  return { inside: new Map(), targets: [], reason: null }
}

/** The place at a path, made where it is not there; tells each one on the way, the last among them, and what is left of the path. */
function reach(root: Place, path: readonly string[], tell?: (above: Place, rest: readonly string[]) => void): Place {
  let place = root
  for (const [depth, name] of path.entries()) {
    if (place.targets.length > 0) tell?.(place, path.slice(depth))
    const next = place.inside.get(name) ?? newPlace()
    place.inside.set(name, next)
    place = next
  }
  tell?.(place, [])
  return place
}

function reasonAt(root: Place, path: readonly string[]): string | null {
  let place: Place | undefined = root
  for (const name of path) {
    if (place.reason !== null) return place.reason
    place = place.inside.get(name)
    if (place === undefined) return null
  }
  return place.reason
}

/** What lies in a guarded place has been gone through already. */
function* targetsInside(top: Place): Generator<readonly string[]> {
  const open = [top.inside.values()]
  for (let places = open.at(-1); places; places = open.at(-1)) {
    const { value: place } = places.next()
    if (place === undefined) open.pop()
    else if (place.reason === null) {
      yield* place.targets
      open.push(place.inside.values())
    }
  }
}
