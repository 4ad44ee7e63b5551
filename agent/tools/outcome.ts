import { createHash } from 'node:crypto'
import type { FileFault } from '../ports.ts'
import type { ToolOutcome } from './tool.ts'

export function ok(text: string, detail: string, more: Partial<ToolOutcome> = {}): ToolOutcome {
  return { status: 'ok', text, detail, ...more }
}

export function failed(text: string, detail = 'error'): ToolOutcome {
  return { status: 'error', text, detail }
}

const faults: { [code in FileFault['code']]: string } = {
  'not-found': 'there is no such file or folder',
  'is-directory': 'it is a folder',
  'not-a-directory': 'a part of the path is a file, not a folder',
  denied: 'permission denied',
  'read-only': 'this part of the file system is read-only',
  'too-large': 'it is too large',
  'not-a-file': 'it is neither a regular file nor a folder',
  loop: 'its symbolic links go round in a circle',
  'name-too-long': 'a part of the path is longer than 255 bytes',
  'no-space': 'there is no space left in the workspace',
  broken: 'the file service failed',
}

/** What the model is told when the file host refuses. The host's own message is ours too, and adds the detail. */
export function fileFault(verb: string, path: string, fault: FileFault): ToolOutcome {
  return failed(`Could not ${verb} ${path}: ${faults[fault.code]}${fault.code === 'broken' ? ` (${fault.message})` : ''}.`, fault.code)
}

export function contentHash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} bytes`
  const units = ['KB', 'MB', 'GB']
  let value = count / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}
