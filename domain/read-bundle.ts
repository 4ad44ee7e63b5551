import type * as z from 'zod'
import { type Bundle, type BundleEntry, BundleManifest, canonical, BundleEntry as Entry, firstLine, lastLine } from './bundle.ts'
import { DsseEnvelope } from './dsse.ts'

export const bundleLimits = {
  /** Larger than any task's limits let a bundle grow. */
  fileBytesMax: 134_217_728,
  /** One event or the manifest: parsing a line may take many times its length in memory. */
  lineCharactersMax: 33_554_432,
  /** How deep JSON may nest in a line of the file or in a payload. */
  depthMax: 64,
} as const

export type BundleFault = {
  where: 'file' | 'manifest' | 'entry' | 'envelope' | 'key' | 'repository'
  /** The first bad entry; null when the fault is in no entry. */
  seq: number | null
  reason: FaultReason
  message: string
}

export const faultReasons = [
  'size',
  'encoding',
  'layout',
  'truncated',
  'trailing-data',
  'json',
  'depth',
  'shape',
  'not-canonical',
  'sequence',
  'task',
  'chain',
  'payload-missing',
  'payload-unexpected',
  'payload-hash',
  'payload-shape',
  'forged-erasure',
  'events',
  'head',
  'no-end',
  'payload-type',
  'other-subject',
  'other-statement',
  'key-id',
  'signature',
  'signature-removed',
  'wrong-key',
  'no-commit',
  'other-commit',
] as const
export type FaultReason = (typeof faultReasons)[number]

export type BundleRead = { kind: 'read'; bundle: Bundle } | { kind: 'fault'; fault: BundleFault }

/**
 * Reads the file line by line as it was rendered and takes no other spelling of it: a repeated key, another order, a
 * space, an escape that need not be, an unknown field, a missing or an additional line are faults. Nothing here throws,
 * whatever the bytes are, and no hash is looked at yet.
 */
export function readBundle(bytes: Uint8Array): BundleRead {
  if (bytes.length > bundleLimits.fileBytesMax) return faulty('file', 'size', `has more than ${bundleLimits.fileBytesMax} bytes`)
  const text = decode(bytes)
  if (text === null) return faulty('file', 'encoding', 'is not UTF-8')
  const lines = openLines(text)
  const manifest = readManifest(lines.next().line)
  if (manifest.kind === 'fault') return manifest
  const entries = readEntries(lines)
  if (entries.kind === 'fault') return entries
  const last = lines.next()
  const envelope = readEnvelope(last.line)
  if (envelope.kind === 'fault') return envelope
  if (!last.ended) return faulty('file', 'truncated', 'lacks its last byte, the end of the line')
  if (!lines.isOver()) return faulty('file', 'trailing-data', 'goes on after its end')
  return { kind: 'read', bundle: { manifest: manifest.value, entries: entries.value, envelope: envelope.value } }
}

type Lines = { next(): { line: string; ended: boolean }; startsWith(text: string): boolean; isOver(): boolean }

/** One line at a time: a file of nothing but line ends must not become a list of them. */
function openLines(text: string): Lines {
  let at = 0
  return {
    next() {
      const end = text.indexOf('\n', at)
      const line = text.slice(at, end < 0 ? text.length : end)
      at = end < 0 ? text.length : end + 1
      return { line, ended: end >= 0 }
    },
    startsWith: start => text.startsWith(start, at),
    isOver: () => at === text.length,
  }
}

type Part<T> = { kind: 'read'; value: T } | { kind: 'fault'; fault: BundleFault }

function readManifest(line: string): Part<BundleManifest> {
  const text = between(line, firstLine)
  if (text === null) return faulty('manifest', 'layout', 'the first line is not that of a bundle in a format this version reads')
  return readPart(BundleManifest, text, 'manifest', null)
}

/** The line after the manifest's holds event 1, and so on; the line of the envelope ends them. */
function readEntries(lines: Lines): Part<BundleEntry[]> {
  const entries: BundleEntry[] = []
  for (let seq = 1; !lines.startsWith(lastLine.before); seq += 1) {
    const { line, ended } = lines.next()
    // Only the end of the file has no line after it.
    if (!ended) return faulty('entry', 'truncated', `the file ends ${line === '' ? 'before' : 'within'} event ${seq}`, seq)
    const isLast = lines.startsWith(lastLine.before)
    if (line.endsWith(',') === isLast) return faulty('entry', 'layout', `event ${seq} is not followed by what must follow it`, seq)
    const entry = readPart(Entry, isLast ? line : line.slice(0, -1), 'entry', seq)
    if (entry.kind === 'fault') return entry
    entries.push(entry.value)
  }
  return { kind: 'read', value: entries }
}

function readEnvelope(line: string): Part<DsseEnvelope | null> {
  const text = between(line, lastLine)
  if (text === null) return faulty('envelope', 'layout', 'the last line is not that of a bundle')
  return readPart(DsseEnvelope.nullable(), text, 'envelope', null)
}

function readPart<T>(schema: z.ZodType<T>, text: string, where: BundleFault['where'], seq: number | null): Part<T> {
  const name = seq === null ? `the ${where}` : `event ${seq}`
  const { lineCharactersMax } = bundleLimits
  if (text.length > lineCharactersMax) return faulty(where, 'size', `${name} has more than ${lineCharactersMax} characters`, seq)
  if (nestsDeeper(text, bundleLimits.depthMax)) return faulty(where, 'depth', `${name} nests deeper than ${bundleLimits.depthMax}`, seq)
  const json = parseJson(text)
  if (json === undefined) return faulty(where, 'json', `${name} is not JSON`, seq)
  const parsed = schema.safeParse(json)
  if (!parsed.success) return faulty(where, 'shape', `${name}: ${explain(parsed.error)}`, seq)
  if (canonicalOrNull(parsed.data) !== text) {
    return faulty(where, 'not-canonical', `${name} has a repeated name, another order or another spelling than it was written with`, seq)
  }
  return { kind: 'read', value: parsed.data }
}

export function faulty(where: BundleFault['where'], reason: FaultReason, message: string, seq: number | null = null) {
  return { kind: 'fault', fault: { where, seq, reason, message: where === 'file' ? `the file ${message}` : message } } as const
}

/** The first thing the schema says, short: names in it come from the file. */
export function explain(error: z.ZodError): string {
  const [issue] = error.issues
  return issue === undefined ? 'has another shape' : `${issue.path.join('.') || 'it'}: ${issue.message}`.slice(0, 200)
}

/** `undefined` stands for "not JSON", which no JSON text means. V8 parses without recursion. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Null: half a surrogate pair, which canonical JSON can not write. */
function canonicalOrNull(value: unknown): string | null {
  try {
    return canonical(value)
  } catch {
    return null
  }
}

/** Counts brackets outside strings; the text need not be JSON. */
export function nestsDeeper(text: string, depthMax: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > depthMax) return true
  }
  return false
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function between(line: string, { before, after }: { before: string; after: string }): string | null {
  const fits = line.length >= before.length + after.length && line.startsWith(before) && line.endsWith(after)
  return fits ? line.slice(before.length, line.length - after.length) : null
}
