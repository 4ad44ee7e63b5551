/**
 * Files that decide what a check proves: tests, their fixtures, and what configures or starts the check. A change to one
 * is shown, and the check is also run with its base version. Paths relative to the root, case-folded.
 */
const patterns: readonly RegExp[] = [
  /(?:^|\/)(?:tests?|__tests__|spec|specs|e2e|testdata|fixtures)\//,
  /(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|c|cc|cpp)$|\.(?:test|spec)\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|(?:vitest|jest|playwright|karma|mocha)\.config\.[cm]?[jt]s|\.mocharc(?:\.\w+)?)$/,
]

/** Files that start the check themselves: a change to one can turn any failure into a pass. */
const starters: readonly RegExp[] = [
  /(?:^|\/)(?:package\.json|makefile|gnumakefile|pyproject\.toml|setup\.cfg|setup\.py|go\.mod|\.npmrc|\.taprc)$/,
]

export function decidesChecks(path: string): boolean {
  const folded = path.toLowerCase()
  return patterns.some(pattern => pattern.test(folded)) || startsChecks(path)
}

export function startsChecks(path: string): boolean {
  return starters.some(pattern => pattern.test(path.toLowerCase()))
}
