import { existsSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { entryPath } from '../../entries.ts'
import { findDeadOwners, type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { makeDataFolder } from '../data-folder.ts'
import { UsageError } from '../exit.ts'
import { cliLimits } from '../limits.ts'
import { readOperator } from '../read-operator.ts'
import { bytes, plural } from '../view/units.ts'
import { broken, degraded, type Finding, ok, tried } from './finding.ts'

const freeBytesMin = 256 * 1024 * 1024
const freeBytesGood = 2 * 1024 * 1024 * 1024

/** Where everything is kept: can it be written and walked through, is there room, does the ledger open, is the clock sane. */
export async function checkData(environment: Environment, dataDir: string): Promise<Finding[]> {
  const folder = folderFinding(dataDir)
  return [
    folder,
    ...(folder.state === 'broken'
      ? []
      : [spaceFinding(dataDir), ...(await tried('ledger', 'restore the data folder from a back-up', () => ledgerFindings(dataDir)))]),
    operatorFinding(environment, dataDir),
    clockFinding(),
  ]
}

function folderFinding(dataDir: string): Finding {
  try {
    return ok('data folder', makeDataFolder(dataDir))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return broken('data folder', error.message, error.hints[0] ?? 'name another one: --data DIR')
  }
}

function spaceFinding(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const mend = `free some space on the disk of ${dataDir}, or name another folder: GROKBOT_DATA`
  if (free < freeBytesMin) return broken('disk space', `${bytes(free)} free: commands are stopped below ${bytes(freeBytesMin)}`, mend)
  if (free < freeBytesGood) return degraded('disk space', `${bytes(free)} free`, mend)
  return ok('disk space', `${bytes(free)} free`)
}

async function ledgerFindings(dataDir: string): Promise<Finding[]> {
  if (!existsSync(path.join(dataDir, 'ledger.db'))) return [ok('ledger', 'none yet: the first run makes it')]
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    const running = await ledger.tasks({ state: 'running', limit: 1_000 })
    const dead = findDeadOwners(dataDir, await ledger.runningOwners())
    const pulled = (await ledger.switch('runs'))?.value === 'pulled'
    return [
      dead.length > 0
        ? degraded(
            'ledger',
            `${plural(running.length, 'running task')}, ${plural(dead.length, 'process', 'processes')} of them dead`,
            'grokbot run --resume TASK, or start serve, which goes on with them',
          )
        : ok('ledger', `opens; ${plural(running.length, 'running task')}`),
      await effectsFinding(ledger),
      ...(pulled ? [degraded('kill switch', 'pulled: no run starts', 'grokbot switch clear')] : [ok('kill switch', 'clear')]),
    ]
  } finally {
    await ledger.close()
  }
}

/** GitHub did not say whether it did something, and reading it back has not helped for a while: only a person can tell. */
async function effectsFinding(ledger: Ledger): Promise<Finding> {
  const updatedBefore = Date.now() - cliLimits.unknownShownMs
  const window = { states: 'unknown', updatedBefore, limit: cliLimits.unknownNamedMax } as const
  const unknown = [
    ...(await ledger.openEffects({ ...window, attempt: 'app' })),
    ...(await ledger.openEffects({ ...window, attempt: 'worker', ended: true })),
  ]
  const [first] = unknown
  if (first === undefined) return ok('effects', 'none is left unknown')
  const names = unknown.slice(0, cliLimits.unknownNamedMax).map(({ kind, taskId }) => `${kind} of ${taskId}`)
  return degraded(
    'effects',
    `nobody knows whether GitHub did: ${names.join(', ')}`,
    `grokbot runs show ${first.taskId}, then look on GitHub`,
  )
}

function operatorFinding(environment: Environment, dataDir: string): Finding {
  try {
    const { operator } = readOperator(environment, dataDir)
    const missing = (operator.sandbox?.roots ?? []).find(root => !statSync(root, { throwIfNoEntry: false })?.isDirectory())
    if (missing) return broken('operator settings', `the root ${missing} is no folder`, 'take it out of sandbox.roots')
    return ok('operator settings', 'usable')
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return broken('operator settings', [error.message, ...error.hints].join('; '), 'grokbot config check')
  }
}

/** Git and GitHub refuse what comes from another time; this program can not be older than its own files. */
function clockFinding(): Finding {
  const written = statSync(entryPath('package')).mtimeMs
  const now = Date.now()
  if (now + clockSlackMs < written) {
    return broken(
      'clock',
      `it says ${new Date(now).toISOString()}, which is before this program was installed`,
      'set the clock: timedatectl set-ntp true',
    )
  }
  return ok('clock', new Date(now).toISOString())
}

const clockSlackMs = 60_000
