import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { endWords, foldTask, type RecordedEvent } from '../domain/index.ts'
import { escapeShort, escapeText, toSafeJson } from './escape.ts'
import { exitCodes } from './exit.ts'
import { resultOf } from './run/result.ts'
import { chainText, checkChain } from './tasks/check-chain.ts'
import { describeEvent } from './tasks/describe-event.ts'
import { findTask, withLedger } from './tasks/open-ledger.ts'
import { isSigned, outFilesOf } from './tasks/out-files-of.ts'
import { clock } from './view/units.ts'

type Options = { data?: string; json?: boolean }

export function define(command: Command, environment: Environment): void {
  command
    .argument('<task>', 'its id, as `grokbot runs list` shows it')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
  command.action((taskId: string, options: Options) => replay(taskId, options, environment))
}

/**
 * Reads a task's events again, in order: the chain is checked first, then everything is folded into the state that a
 * worker would go on from. Nothing is asked of a model and nothing is run.
 */
async function replay(taskId: string, options: Options, environment: Environment): Promise<void> {
  await withLedger(environment, { data: options.data }, async opened => {
    const row = await findTask(opened, taskId)
    const chain = checkChain(await opened.ledger.readRecord(taskId))
    // Events of a broken chain are not interpreted: nobody knows who wrote them.
    const events = chain.kind === 'verifies' ? await opened.ledger.readEvents(taskId) : []
    const state = foldTask(events)
    if (options.json) {
      const out = outFilesOf(opened.dataDir, taskId)
      const result = resultOf(state, taskId, { ...out, signed: isSigned(out.bundle) }, state.lastAt - row.acceptedAt)
      process.stdout.write(`${toSafeJson({ taskId, chain, events: events.map(toJson), result })}\n`)
    } else {
      const lines = events.map(event => lineOf(event, row.acceptedAt))
      const end = state.outcome
        ? `${state.outcome.outcome}: ${escapeShort(endWords(state.outcome), 300)}`
        : row.outcome === null
          ? `${row.state}, no outcome yet`
          : `${row.outcome}${state.erased ? ', erased' : ''}`
      process.stdout.write(
        `${[`task   ${escapeText(taskId)}`, ...lines, ...(events.length > 0 ? [`end    ${end}`] : []), `chain  ${chainText(chain)}`].join('\n')}\n`,
      )
    }
    if (chain.kind === 'broken') process.exitCode = exitCodes.failed
  })
}

function lineOf(event: RecordedEvent, startedAt: number): string {
  const { seq, at, attempt, type } = event
  return `${clock(at - startedAt).padStart(6)} ${String(seq).padStart(4)}  ${`#${attempt}`.padEnd(3)} ${type.padEnd(17)} ${escapeShort(describeEvent(event), 300)}`
}

function toJson(event: RecordedEvent) {
  const { seq, at, attempt, actor, type, hash } = event
  return { seq, at, attempt, actor, type, text: describeEvent(event), hash }
}
