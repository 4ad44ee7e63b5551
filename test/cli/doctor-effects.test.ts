import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkData } from '../../cli/doctor/check-data.ts'
import { readEnvironment } from '../../config-schema/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { eventOf, taskOf } from '../ledger/samples.ts'

test.each([
  { minutes: 14, finding: { state: 'ok', what: 'none is left unknown', mend: null } },
  {
    minutes: 16,
    finding: {
      state: 'degraded',
      what: 'nobody knows whether GitHub did: reaction of T1',
      mend: 'grokbot runs show T1, then look on GitHub',
    },
  },
])('an effect that is unknown for $minutes minutes is a finding of doctor: $finding.state', async ({ minutes, finding }) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'doctor-'))
  chmodSync(dataDir, 0o711)
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  await ledger.acceptTask(taskOf('T1'))
  const { payload } = eventOf('effect.prepared', { kind: 'reaction' })
  const { effectId } = payload as { effectId: string }
  const events = [
    eventOf('effect.prepared', { kind: 'reaction' }),
    eventOf('effect.dispatched', { effectId, try: 1 }),
    eventOf('effect.settled', { effectId, state: 'unknown', remote: {} }),
  ]
  const at = Date.now() - minutes * 60_000
  await ledger.append({ taskId: 'T1', attempt: 0, actor: 'app', at, expectedSeq: (await ledger.task('T1'))?.lastSeq ?? 0, events })
  await ledger.close()
  const environment = readEnvironment()
  if (environment.kind !== 'read') throw new Error('the environment of the tests is not usable')
  const findings = await checkData(environment.values, dataDir)
  expect(
    findings.find(({ part }) => part === 'effects'),
    JSON.stringify(findings),
  ).toEqual({ part: 'effects', ...finding })
})
