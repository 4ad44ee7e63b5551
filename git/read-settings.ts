import { copyFileSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Borrowed, Unusable } from './borrow-repository.ts'
import type { FoundRepository } from './find-repository.ts'
import { gitLimits } from './limits.ts'
import { statAt } from './stat-at.ts'

export type Settings = {
  /** Those that say how files are written and compared. None can start a program. */
  taken: [key: string, value: string][]
  excludesFile: string
  attributesFile: string
  /** The work tree the repository itself names. It never counts, but it may contradict. */
  worktree: string | null
}

const harmless = [
  ...['core.autocrlf', 'core.eol', 'core.filemode', 'core.symlinks', 'core.ignorecase', 'core.precomposeunicode'],
  ...['core.trustctime', 'core.checkstat', 'core.sharedrepository'],
]
const asked = [
  ...[...harmless, 'core.excludesfile', 'core.attributesfile', 'core.worktree', 'core.bare'],
  ...['extensions.objectformat', 'extensions.refstorage', 'extensions.worktreeconfig'],
]
const pattern = `^(${asked.join('|').replaceAll('.', '\\.')})$`

/**
 * Reads the settings that count from a person's configuration and their repository's, as files: nothing they include is
 * read, and whatever is not in the list above is not looked at.
 */
export async function readSettings({ gitDir, common }: FoundRepository, run: Borrowed['run']): Promise<Settings | Unusable> {
  const wide = ['/etc/gitconfig', inHome('.config/git/config'), inHome('.gitconfig')].filter(file => statAt(file) !== null)
  const [shared, tree, ...rest] = await Promise.all(
    [join(common, 'config'), join(gitDir, 'config.worktree'), ...wide].map(file => readConfig(file, run)),
  )
  if (!shared || !tree || rest.includes(null)) return unreadable('its configuration, or yours,')
  // As in git: these two are the first work tree's, not a linked one's.
  if (common !== gitDir) for (const key of ['core.bare', 'core.worktree']) shared.delete(key)
  const own = isTrue(shared.get('extensions.worktreeconfig')) ? [...tree] : []
  const settings = new Map([...rest.flatMap(read => [...(read ?? [])]), ...shared, ...own])
  return faultOf(settings) ?? choose(settings)
}

function choose(settings: ReadonlyMap<string, string>): Settings {
  const pathAt = (key: string, otherwise: string) => {
    const path = settings.get(key)?.replace(/^~\//, `${homedir()}/`)
    return path !== undefined && isAbsolute(path) ? path : inHome(otherwise)
  }
  return {
    taken: [...settings].filter(([key]) => harmless.includes(key)),
    excludesFile: pathAt('core.excludesfile', '.config/git/ignore'),
    attributesFile: pathAt('core.attributesfile', '.config/git/attributes'),
    worktree: settings.get('core.worktree') ?? null,
  }
}

/** What git of this version, or the road from here on, would read wrongly. */
function faultOf(settings: ReadonlyMap<string, string>): Unusable | null {
  const format = settings.get('extensions.objectformat') ?? 'sha1'
  if (format.toLowerCase() !== 'sha1') {
    const reason = `its objects have ${format.toUpperCase().replace(/^SHA(?=\d)/, 'SHA-')} names, and only SHA-1 ones are understood here`
    return {
      kind: 'unusable',
      reason,
      next: 'work on a clone in that format: git init --object-format=sha1, then git fast-export | git fast-import',
    }
  }
  const storage = settings.get('extensions.refstorage') ?? 'files'
  if (storage !== 'files')
    return {
      kind: 'unusable',
      reason: `its branches are kept as ${storage}, which is not read here`,
      next: 'git refs migrate --ref-format=files',
    }
  if (isTrue(settings.get('core.bare')))
    return { kind: 'unusable', reason: 'it is bare: it has no work tree', next: 'name a work tree: git worktree add DIR' }
  return null
}

/** Puts what is ignored and which attributes files have into our gitdir. They are rules; a program is only named by a configuration. */
export function copyRules(folder: string, { common }: FoundRepository, settings: Settings): Unusable | null {
  const copies: [from: string, to: string][] = [
    [join(common, 'info', 'exclude'), join(folder, 'info', 'exclude')],
    [join(common, 'info', 'attributes'), join(folder, 'info', 'attributes')],
    [settings.excludesFile, join(folder, 'excludes')],
    [settings.attributesFile, join(folder, 'attributes')],
  ]
  for (const [from, to] of copies) {
    const stat = statAt(from)
    if (stat === null) continue
    // Without them a file with a filter would pass for one that has none.
    if (!stat.isFile() || stat.size > gitLimits.rulesBytesMax) return unreadable(from)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(from, to)
  }
  settings.taken.push(['core.excludesFile', join(folder, 'excludes')], ['core.attributesFile', join(folder, 'attributes')])
  return null
}

/** The last value of each key counts. Null: it can not be read, so nothing about it is known. */
async function readConfig(file: string, run: Borrowed['run']): Promise<Map<string, string> | null> {
  const stat = statAt(file)
  if (stat === null) return new Map()
  if (!stat.isFile()) return null
  const { exitCode, stdout } = await run(['config', '--file', file, '--no-includes', '--null', '--get-regexp', pattern])
  if ((exitCode !== 0 && exitCode !== 1) || stdout.length > gitLimits.settingsBytesMax) return null
  const entries = stdout.toString('utf8').split('\0').filter(Boolean)
  // A key without a value means true.
  return new Map(entries.map(entry => (entry.includes('\n') ? splitAt(entry, entry.indexOf('\n')) : [entry, 'true'])))
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at + 1)]
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value)
}

function inHome(name: string): string {
  return join(homedir(), name)
}

function unreadable(what: string): Unusable {
  return { kind: 'unusable', reason: `${what} can not be read`, next: 'see what git says: git config --list --show-origin' }
}
