/**
 * Files that decide what a check proves: tests, their fixtures, and what configures or starts the check. A change to one
 * is shown, and the check is also run with its base version. Paths relative to the root, case-folded.
 */
const patterns: readonly RegExp[] = [
  /(?:^|\/)(?:tests?|__tests__|spec|specs|e2e|testdata|fixtures)\//,
  /(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|c|cc|cpp)$|\.(?:test|spec)\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|(?:vitest|vite|jest|playwright|karma|mocha|ava|cypress|babel)\.config\.[cm]?[jt]s|\.mocharc(?:\.\w+)?)$/,
]

/**
 * Files that start the check themselves, or say what it runs with: a change to one can turn any failure into a pass. A
 * manifest and its lock go together, since one without the other installs nothing.
 */
const starters: readonly RegExp[] = [
  /(?:^|\/)(?:package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|\.npmrc|\.taprc)$/,
  /(?:^|\/)(?:pyproject\.toml|setup\.cfg|setup\.py|pipfile(?:\.lock)?|poetry\.lock|requirements[^/]*\.txt)$/,
  /(?:^|\/)(?:go\.mod|go\.sum|makefile|gnumakefile|cmakelists\.txt|cargo\.toml|cargo\.lock)$|\.mk$/,
]

export function decidesChecks(path: string): boolean {
  const folded = path.toLowerCase()
  return patterns.some(pattern => pattern.test(folded)) || startsChecks(path)
}

export function startsChecks(path: string): boolean {
  return starters.some(pattern => pattern.test(path.toLowerCase()))
}
