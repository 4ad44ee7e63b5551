import { readFileSync } from 'node:fs'
import { entryPath } from '../entries.ts'

export function version(): string {
  return (JSON.parse(readFileSync(entryPath('package'), 'utf8')) as { version: string }).version
}
