/**
 * Every file that is started or read by path instead of imported: the same table for source, bundle and Action, where the
 * places differ. A test starts each of them.
 */
const entries = {
  sessionThread: './worker/session-thread.ts',
} as const

export type EntryName = keyof typeof entries

export function entryUrl(name: EntryName): URL {
  return new URL(entries[name], import.meta.url)
}
