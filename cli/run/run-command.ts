import { ulid } from 'ulid'
import { requestCancel } from '../../app/index.ts'
import type { Environment } from '../../config-schema/index.ts'
import { foldTask, type TaskState } from '../../domain/index.ts'
import type { Claim } from '../../ledger/index.ts'
import { createLogger, redact, silentLogger } from '../../telemetry/index.ts'
import { createSweep, executeTask, type WorkerPorts, type WorkerSettings, watchClaim } from '../../worker/index.ts'
import { dataFolderOf, makeDataFolder } from '../data-folder.ts'
import { escapeText, toSafeJson } from '../escape.ts'
import { Refusal, UsageError } from '../exit.ts'
import { readOperator } from '../read-operator.ts'
import type { RunOptions } from '../run.ts'
import { finishRun } from './finish.ts'
import { listenForInterrupts, listenForKeys } from './interrupts.ts'
import { type LocalRepository, readLocalRepository } from './local-repository.ts'
import { openModel, type RunModel } from './model.ts'
import { acceptAndClaim, claimAgain, openRunKeys, openRunPlace, type RunPlace, runPorts } from './open-run.ts'
import { decideRun, proposeRun, type RunOrder, readCommand, readIssue } from './order.ts'
import { openRunOutput, type RunOutput } from './output.ts'
import { refusedResult } from './result.ts'

/** `grokbot run`: the second half of the road for one task, on this machine, with its result as a patch. */
export async function runCommand(words: readonly string[], options: RunOptions, environment: Environment): Promise<void> {
  const startedAt = performance.now()
  try {
    await runOne(words, options, environment, startedAt)
  } catch (error) {
    // A program that asked for one object gets one, also when nothing was started; people read why on standard error.
    const isRefused = error instanceof Refusal || error instanceof UsageError
    if (isRefused && (options.json || options.streamJson))
      process.stdout.write(`${toSafeJson(refusedResult(redact(error.message), error.problem, performance.now() - startedAt))}\n`)
    throw error
  }
}

async function runOne(words: readonly string[], options: RunOptions, environment: Environment, startedAt: number): Promise<void> {
  checkTogether(words, options)
  const dataDir = makeDataFolder(dataFolderOf(environment, options.data))
  const settings = readOperator(environment, dataDir)
  const asked = options.resume === undefined ? readAsked(words, options, settings) : null
  const keys = openRunKeys(dataDir, environment, settings)
  const place = openRunPlace(dataDir, keys)
  let model: RunModel | null = null
  try {
    // A task that is over, or is none, is told without a model.
    if (options.resume === undefined || (await isOpen(place, options.resume))) model = await openModel(environment, options.modelScript)
    const taskId = options.resume ?? `t_${ulid()}`
    const begun = asked ? await begin(taskId, asked, place, settings) : await goOn(taskId, place, settings)
    const before = foldTask(await place.ledger.readEvents(taskId))
    const output = openRunOutput(before, options, environment, { taskId, model: model?.endpoint.model ?? '', startedAt })
    const noted = sayLater(begun.note, output)
    const ports = model && portsOf(place, model, output, environment, options)
    const state = begun.claim === null || ports === null ? before : await work(begun.claim, ports, output)
    await noted.done()
    output.close()
    process.exitCode = await finishRun(state, {
      taskId,
      dataDir,
      options,
      startedAt,
      environment,
      modelUrl: options.modelScript ? null : shownUrl(model),
    })
    // What runs that died have left, and what is kept no longer: all is said, so nobody waits for it.
    if (ports) await createSweep(ports).run()
  } finally {
    await model?.close()
    await place.close()
  }
}

async function isOpen({ ledger }: RunPlace, taskId: string): Promise<boolean> {
  const row = await ledger.task(taskId)
  return row !== null && row.state !== 'ended'
}

/** Without what may be a credential in it. */
function shownUrl(model: RunModel | null): string | null {
  const url = model && URL.parse(model.endpoint.baseUrl)
  return url ? `${url.origin}${url.pathname}` : null
}

/**
 * A note for people costs git's processes, so it is made when the first words of the work have been shown, or at the end.
 * One that can not be made is not made; it must not end the run.
 */
function sayLater(note: Begun['note'], output: RunOutput): { done(): Promise<void> } {
  const say = () =>
    note().then(
      text => void (text && output.note(`  ${escapeText(text)}`)),
      () => undefined,
    )
  let said: Promise<void> | null = null
  const timer = setTimeout(() => {
    said = say()
  }, noteAfterMs)
  return {
    done() {
      clearTimeout(timer)
      return said ?? say()
    },
  }
}

const noteAfterMs = 1_000

/** What can not stand together is said before anything is made. */
function checkTogether(words: readonly string[], options: RunOptions): void {
  if (options.json && options.streamJson) throw new UsageError('options-clash', '--json and --stream-json can not stand together')
  if (options.resume === undefined) return
  if (words.length > 0 || options.issue !== undefined || options.base !== undefined)
    throw new UsageError('options-clash', '--resume goes on with a task as it was asked for', [
      'leave the command, --issue and --base away',
    ])
}

/** `claim` is null when the task is over already. */
type Begun = { claim: Claim | null; note(): Promise<string | null> }

/** What a person wrote, read before anything is opened. */
type Asked = Pick<RunOrder, 'command' | 'subject'> & Pick<RunOptions, 'repo' | 'base'>

function readAsked(words: readonly string[], options: RunOptions, settings: WorkerSettings): Asked {
  const command = readCommand(words, settings)
  // The switch is read with the ledger; here only what is no command at all is told apart.
  decideRun(command, settings.prefix, 'on')
  const subject = readIssue(options.issue)
  if (command.text === '' && subject === null) {
    const hint = `say what: grokbot run "${settings.prefix} ${command.word} the failing test", or --issue FILE`
    throw new UsageError('nothing-to-do', 'there is nothing to do', [hint])
  }
  return { command, subject, repo: options.repo, ...(options.base === undefined ? {} : { base: options.base }) }
}

async function begin(taskId: string, asked: Asked, place: RunPlace, settings: WorkerSettings): Promise<Begun> {
  const killSwitch = (await place.ledger.switch('runs'))?.value === 'pulled' ? 'pulled' : 'on'
  const row = decideRun(asked.command, settings.prefix, killSwitch)
  const repository = await readLocalRepository(asked.repo, asked.base ?? null)
  const order = { command: asked.command, row, subject: asked.subject, repository }
  const claim = await acceptAndClaim(place, proposeRun(order, taskId, settings, Date.now()), settings)
  return { claim, note: () => uncommittedNote(repository) }
}

async function uncommittedNote({ uncommitted }: LocalRepository): Promise<string | null> {
  const count = await uncommitted()
  return count > 0 ? `${count} uncommitted ${count === 1 ? 'change is' : 'changes are'} not used` : null
}

async function goOn(taskId: string, place: RunPlace, settings: WorkerSettings): Promise<Begun> {
  const claim = await claimAgain(place, taskId, settings)
  if (claim === 'ended') return { claim: null, note: async () => 'this task has ended already' }
  return { claim, note: async () => `goes on as attempt ${claim.attempt}` }
}

function portsOf(place: RunPlace, { endpoint }: RunModel, output: RunOutput, environment: Environment, options: RunOptions): WorkerPorts {
  return runPorts(place, {
    environment,
    model: endpoint,
    logger: environment.LOG_LEVEL ? createLogger(environment.LOG_LEVEL) : silentLogger,
    sessionPlace: options.thread ? 'thread' : 'here',
    progress: (_, update) => output.progress(update),
  })
}

async function work(claim: Claim, ports: WorkerPorts, output: RunOutput): Promise<TaskState> {
  const cancel = new AbortController()
  const stopWatching = watchClaim(claim, cancel, ports)
  const askToStop = (by: string) => {
    output.note('  stopping: the work so far is kept')
    requestCancel(ports.ledger, claim.taskId, { by, reason: 'asked to stop' }, Date.now()).then(
      () => cancel.abort(new Error('cancel was asked for')),
      error => cancel.abort(error),
    )
  }
  const interrupts = listenForInterrupts(signal => askToStop(signal))
  const keys = output.live ? listenForKeys(process.stdin, key => (key === 'c' ? askToStop('c key') : output.toggleDetail())) : null
  try {
    return await executeTask(claim, cancel.signal, ports)
  } finally {
    keys?.close()
    interrupts.close()
    stopWatching()
  }
}
