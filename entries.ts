import path from 'node:path'

/**
 * Every file that is started or read by path instead of imported, and every folder of such files: where it lies in the
 * source tree, and where `tools/build.ts` puts it in a built folder (`dist/` of a package or an image, the Action's own).
 * Nothing is read here; a test starts each of them in both forms.
 *
 * Danger: the folders of the file host and of the relay are mounted into sandboxes, read-only and whole. In a built folder
 * each of the two has one of its own with nothing else in it.
 */
const entries = {
  main: { source: 'cli/main.ts', built: 'main.mjs' },
  sessionThread: { source: 'worker/session-thread.ts', built: 'session-thread.mjs' },
  fileHost: { source: 'sandbox/file-host/main.ts', built: 'inside/file-host/main.cjs' },
  relay: { source: 'sandbox/egress/relay.ts', built: 'inside/relay/relay.cjs' },
  credentialHelper: { source: 'git/credential-helper.sh', built: 'git/credential-helper.sh' },
  hostGitConfig: { source: 'git/host.gitconfig', built: 'git/host.gitconfig' },
  makeTree: { source: 'git/make-tree.sh', built: 'git/make-tree.sh' },
  restoreTree: { source: 'git/restore-tree.sh', built: 'git/restore-tree.sh' },
  prompts: { source: 'prompts', built: 'prompts' },
  package: { source: 'package.json', built: 'package.json' },
} as const

export type EntryName = keyof typeof entries
export type EntryForm = 'source' | 'built'

/** Type stripping refuses packages, so a built file is never a `.ts` and a source file always is. */
const form: EntryForm = import.meta.filename.endsWith('.ts') ? 'source' : 'built'

/** The absolute path of an entry, for the form this program runs in. */
export function entryPath(name: EntryName): string {
  return path.join(import.meta.dirname, entries[name][form])
}

/** SQLite's native addon. Undefined in the source tree: there the package finds the one of this machine by itself. */
export function sqliteAddonPath(): string | undefined {
  return form === 'source' ? undefined : path.join(import.meta.dirname, sqliteAddonPlace(process.arch))
}

/** Where a built folder keeps the addon for an architecture; builds are for Linux with glibc. */
export function sqliteAddonPlace(architecture: string): string {
  return `native/sqlite-linux-${architecture}.node`
}

/** Where an entry lies below a source tree and below a built folder: for the build and its test. */
export function entryPlaces(): Readonly<Record<EntryName, Readonly<Record<EntryForm, string>>>> {
  return entries
}
