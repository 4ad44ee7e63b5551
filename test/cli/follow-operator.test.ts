import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../../cli/exit.ts'
import { followOperator } from '../../cli/follow-operator.ts'
import type { Logger } from '../../telemetry/index.ts'

function openFolder() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-operator-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const file = path.join(dataDir, 'operator.yml')
  const said: { level: string; message: string; hints: unknown }[] = []
  const say = (level: string) => (fields: object, message: string) =>
    said.push({ level, message, hints: (fields as { hints?: unknown }).hints ?? null })
  const logger: Logger = { info: say('info'), warn: say('warn'), error: say('error') }
  return { dataDir, file, said, logger, write: (text: string) => writeFileSync(file, text), remove: () => rmSync(file) }
}

test('settings of a process that runs on follow the file, and the last good ones outlive a broken one', () => {
  const { dataDir, file, said, logger, write, remove } = openFolder()
  const follow = followOperator({}, dataDir, logger)
  const turns = () => follow().limits.turnsMax
  expect(turns()).toBe(60)
  write('version: 1\nlimits: { turnsMax: 7 }\n')
  expect([turns(), turns()]).toEqual([7, 7])
  write('version: 1\nlimits: { turnMax: 9 }\n')
  expect([turns(), turns()]).toEqual([7, 7])
  const read = { level: 'info', message: 'operator settings were read again', hints: null }
  // Once for each change, however often they are asked for.
  expect(said).toEqual([
    read,
    {
      level: 'error',
      message: 'operator settings are broken; the last good ones stay in force',
      hints: expect.stringContaining(`${file}:2:11: limits.turnMax`),
    },
  ])
  write('version: 1\nlimits: { turnsMax: 8 }\n')
  expect(turns()).toBe(8)
  remove()
  expect(turns()).toBe(60)
  expect(said.map(({ level }) => level)).toEqual(['info', 'error', 'info', 'info'])
})

test('a file that is broken at the start is an error with its place', () => {
  const { dataDir, file, logger, write } = openFolder()
  write('version: 2\n')
  const start = () => followOperator({}, dataDir, logger)
  expect(start).toThrow(UsageError)
  expect(start).toThrow(`${file} is not usable`)
})

test('two changes within one tick of the clock are both seen, when the second has another size', () => {
  const { dataDir, logger, write } = openFolder()
  const follow = followOperator({}, dataDir, logger)
  write('version: 1\nlimits: { turnsMax: 7 }\n')
  expect(follow().limits.turnsMax).toBe(7)
  write('version: 1\nlimits: { turnsMax: 17 }\n')
  expect(follow().limits.turnsMax).toBe(17)
})
