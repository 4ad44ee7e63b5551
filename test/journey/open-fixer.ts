import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { ulid } from 'ulid'
import { workerSettings } from '../../cli/read-operator.ts'
import { readLocalRepository } from '../../cli/run/local-repository.ts'
import { acceptAndClaim, claimAgain, openRunKeys, openRunPlace, runPorts } from '../../cli/run/open-run.ts'
import { decideRun, proposeRun, readCommand } from '../../cli/run/order.ts'
import type { TaskState } from '../../domain/index.ts'
import type { Claim } from '../../ledger/index.ts'
import { type ModelScript, startFakeModel } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { executeTask, type WorkerPorts } from '../../worker/index.ts'
import { Stopped } from '../../worker/stopped.ts'

export type Files = Readonly<Record<string, string>>
/** `grokbot run` without its process: many tasks, one after another, on one data folder. */
export type Fixer = {
  dataDir: string
  fix(files: Files, script: ModelScript, cancel?: AbortSignal): Promise<TaskState>
  /** Another attempt at a task that was handed back. */
  goOn(taskId: string, cancel?: AbortSignal): Promise<TaskState>
  close(): Promise<void>
}

export async function openFixer(operator: object = {}, other: Partial<WorkerPorts> = {}): Promise<Fixer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-fixer-'))
  chmodSync(folder, 0o711)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  writeFileSync(path.join(dataDir, 'operator.yml'), JSON.stringify({ version: 1, ...operator }))
  const model = await startFakeModel()
  const environment = { GROKBOT_DATA: dataDir }
  const settings = workerSettings(environment, dataDir)
  const place = openRunPlace(dataDir, openRunKeys(dataDir, environment, settings))
  const endpoint = { baseUrl: model.url, apiKey: 'none', model: 'scripted' }
  let number = 0
  const execute = (claim: Claim, cancel = new AbortController().signal) => {
    const ports = runPorts(place, { environment, model: endpoint, logger: silentLogger, sessionPlace: 'here', progress: () => undefined })
    return executeTask(claim, cancel, { ...ports, ...other }).catch(async error => {
      if (error instanceof Stopped) await place.ledger.releaseTask(claim)
      throw error
    })
  }
  return {
    dataDir,
    async fix(files, script, cancel) {
      number += 1
      const root = path.join(folder, `repository-${number}`)
      await makeRepository(root, files)
      model.script(script)
      const command = readCommand(['/grok fix the failing test'], settings)
      const order = {
        command,
        row: decideRun(command, settings.prefix, 'on'),
        subject: null,
        repository: await readLocalRepository(root, null),
      }
      return await execute(await acceptAndClaim(place, proposeRun(order, `t_${ulid()}`, settings, Date.now()), settings), cancel)
    },
    async goOn(taskId, cancel) {
      const claim = await claimAgain(place, taskId, settings)
      if (claim === 'ended') throw new Error(`${taskId} has ended`)
      return await execute(claim, cancel)
    },
    async close() {
      await model.close()
      await place.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function makeRepository(root: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(name)), { recursive: true })
    writeFileSync(path.join(root, name), content)
  }
  const git = (...argv: string[]) => execa('git', argv, { cwd: root })
  await git('init', '-q', '-b', 'main')
  await git('add', '-A')
  await git('-c', 'user.name=mona', '-c', 'user.email=mona@example.invalid', 'commit', '-q', '-m', 'base')
}
