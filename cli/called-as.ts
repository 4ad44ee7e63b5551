import path from 'node:path'
import type { Environment } from '../config-schema/index.ts'
import { entryPath } from '../entries.ts'
import { shellWord } from './run/local-repository.ts'

/** How this program was called, so that a line we print can be pasted where it is read: `./dev` says where its caller stands. */
export function calledAs({ GROKBOT_CALLER_DIR: caller }: Environment): string {
  if (caller === undefined) return 'grokbot'
  const dev = path.join(path.dirname(entryPath('package')), 'dev')
  const relative = path.relative(caller, dev)
  return `${shellWord(relative.startsWith('..') ? dev : `./${relative}`)} grokbot`
}
