import { type CommandRow, commandTable, duration, foldTask, money, type TaskState } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import type { Asked } from './read-event.ts'

type ReplyVerb = Extract<(typeof commandTable)[number], { road: 'reply' }>['verb']
export type ReplyPorts = { ledger: Pick<Ledger, 'tasks' | 'readEvents'>; now(): number }

const replies: Record<ReplyVerb, (asked: Asked, prefix: string, ports: ReplyPorts) => Promise<string>> = {
  help: async (_, prefix) => renderHelp(prefix),
  status: async (asked, _, ports) => await renderStatus(asked, ports),
}

/** The answer of a command the app itself replies to; null = it has none. */
export async function renderReply(row: CommandRow, asked: Asked, prefix: string, ports: ReplyPorts): Promise<string | null> {
  return row.road === 'reply' ? await replies[row.verb as ReplyVerb](asked, prefix, ports) : null
}

/** Made from the command table: what is listed works. */
function renderHelp(prefix: string): string {
  const rows = commandTable.map(row => `| \`${prefix} ${row.verb}\` | ${row.help} | ${row.needs} |`)
  return ['**grok help**', '', '| command | what it does | needs |', '|---|---|---|', ...rows].join('\n')
}

/** The newest runs of this thread, from the ledger; said in our own words only. */
async function renderStatus(asked: Asked, { ledger, now }: ReplyPorts): Promise<string> {
  const rows = await ledger.tasks({ laneKey: laneOf(asked), needsWorker: true, limit: appLimits.statusLinesMax })
  const lines = await Promise.all(rows.map(async ({ taskId }) => lineOf(taskId, foldTask(await ledger.readEvents(taskId)), now())))
  const count = (word: string) => rows.filter(({ state }) => state === word).length
  const head = rows.length === 0 ? 'nothing was run here yet' : `${count('running')} running, ${count('waiting')} waiting here`
  return [`**grok status** — ${head}`, '', ...lines, ...(lines.length > 0 ? [''] : []), `<sub>as of ${clock(now())} UTC</sub>`].join('\n')
}

function lineOf(taskId: string, { accepted, attempts, outcome, spent, effects }: TaskState, now: number): string {
  const verb = accepted?.command.verb ?? 'run'
  const cost = spent.costMicroUsd > 0 ? `, ${money(spent.costMicroUsd)}` : ''
  const pull = Object.values(effects).find(effect => effect.kind === 'pull-request' && effect.state === 'confirmed')?.remote?.['number']
  const startedAt = attempts[0]?.at
  const state = outcome
    ? `${outcome.outcome} at ${moment(outcome.at, now)} UTC${typeof pull === 'number' ? `: #${pull}` : ''}`
    : startedAt === undefined
      ? 'waiting for a worker'
      : `running for ${duration(now - startedAt)}`
  return `- ${verb}, asked by @${accepted?.requester.login ?? 'ghost'}: ${state}${cost} (\`${taskId}\`)`
}

/** With its day, where that is not today. */
function moment(at: number, now: number): string {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return day(at) === day(now) ? clock(at) : `${day(at)} ${clock(at)}`
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}
