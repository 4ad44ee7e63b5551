import { createHash } from 'node:crypto'
import { userInfo } from 'node:os'
import path from 'node:path'
import { parseCommands } from '../../app/index.ts'
import { type CommandRow, clipSubject, decideAcceptance, grantOf, type TaskAccepted, type WrittenCommand } from '../../domain/index.ts'
import type { NewTask } from '../../ledger/index.ts'
import type { WorkerSettings } from '../../worker/index.ts'
import { escapeText } from '../escape.ts'
import { Refusal, UsageError } from '../exit.ts'
import { readNamed } from '../read-named.ts'
import { taskLimitsOf } from '../read-operator.ts'
import type { LocalRepository } from './local-repository.ts'

/** What one `grokbot run` asks for. */
export type RunOrder = { command: WrittenCommand; row: CommandRow; subject: TaskAccepted['subject']; repository: LocalRepository }

const issueBytesMax = 1_048_576

/** The command of `run`, read by the parser and the table that read comments. Throws `UsageError` for what is none. */
export function readCommand(words: readonly string[], settings: WorkerSettings): WrittenCommand {
  const { prefix, limits } = settings
  const text = words.join(' ').trim()
  const example = `for example: grokbot run "${prefix} fix the failing test"`
  if (text === '') throw new UsageError('command-missing', 'there is no command to run', [example])
  const { commands, dropped } = parseCommands(text, { prefix, slug: null, commandsMax: 1, textBytesMax: limits.commandTextBytesMax })
  const [command] = commands
  if (!command)
    throw new UsageError('command-unreadable', `this is not a command: ${escapeText(text.slice(0, 200))}`, [
      `a command begins with ${prefix}`,
      example,
    ])
  if (dropped > 0) throw new UsageError('one-command', 'run takes one command at a time')
  return command
}

/** Decided as for a comment, with the facts of a person at their own repository. */
export function decideRun(command: WrittenCommand, prefix: string, killSwitch: 'on' | 'pulled'): CommandRow {
  const { uid, username } = whoAmI()
  const acceptance = decideAcceptance(
    command,
    {
      ownerAllowed: true,
      actor: { id: uid, login: username, kind: 'user' },
      botAllowed: false,
      role: 'admin',
      subject: 'issue',
      pull: null,
      lastFailed: null,
      botRuns: 0,
      archived: false,
      locked: false,
      baseSha: '0'.repeat(40),
      defaultBranch: 'HEAD',
      killSwitch,
      subjectTrusted: true,
      operatorProfile: null,
    },
    { prefix, botRunsPerHourMax: 0 },
  )
  if (acceptance.kind === 'accepted') {
    const { row } = acceptance
    if (row.road === 'fix') return row
    throw new UsageError('comment-only', `\`${prefix} ${row.verb}\` belongs into a comment`, [
      row.road === 'cancel' ? 'stop a run with: grokbot stop TASK' : 'see what there is: grokbot --help',
    ])
  }
  if (acceptance.kind === 'refused' && acceptance.reason === 'switched-off')
    throw new Refusal(acceptance.reason, acceptance.words, ['switch runs on again: grokbot switch clear'])
  throw new UsageError(acceptance.reason, acceptance.kind === 'refused' ? acceptance.words : acceptance.reason)
}

/** A file with an issue: its first line is the title, the rest the text. Null without a file. */
export function readIssue(file: string | undefined): TaskAccepted['subject'] {
  if (file === undefined) return null
  const text = readNamed(file, { by: '--issue', bytesMax: issueBytesMax })
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .trimStart()
  const [first = '', ...rest] = text.split('\n')
  const title = first.replace(/^#+\s*/, '').trim()
  if (title === '')
    throw new UsageError('issue-empty', `--issue: ${escapeText(file)} is empty`, ['its first line is the title, the rest the text'])
  return { kind: 'issue', number: 0, title, body: rest.join('\n').trim() }
}

/** The task of a run: done by the process that accepted it, its result a patch. */
export function proposeRun(order: RunOrder, taskId: string, settings: WorkerSettings, now: number): NewTask {
  const { command, row, subject, repository } = order
  const { limits } = settings
  const payload: TaskAccepted = {
    command: { verb: row.verb, text: command.text, index: 0 },
    requester: { login: whoAmI().username, id: whoAmI().uid },
    repository: {
      id: repositoryId(repository.root),
      owner: 'local',
      name: path.basename(repository.root) || 'root',
      url: repository.root,
      visibility: 'private',
      defaultBranch: repository.branch,
    },
    installationId: null,
    subject: subject && clipSubject(subject, limits.subjectBytesMax),
    commentId: null,
    base: repository.base,
    // A file of the person's own, which they have read or could have.
    grant: grantOf(row, { operatorProfile: settings.operator.sandbox?.profile ?? null, delivery: 'patch', trusted: true, fork: false }),
    limits: taskLimitsOf(limits),
    delivery: 'patch',
    deadlineAt: now + limits.taskWallMs,
  }
  return {
    taskId,
    meaningKey: createHash('sha256').update(`cli|${taskId}`).digest('hex'),
    // Runs of one folder do not wait for each other: each has its own copy, and none writes the folder.
    laneKey: `run:${taskId}`,
    tenantKey: 'local',
    priority: 0,
    needsWorker: true,
    actor: 'cli',
    commandId: `cli-${taskId}`,
    acceptedAt: now,
    first: { type: 'task.accepted', payload },
    more: [],
    budgets: [],
  }
}

/** The same folder always has the same mirror. 48 bits: a safe integer, and no two folders of a person meet. */
function repositoryId(root: string): number {
  return createHash('sha256').update(root).digest().readUIntBE(0, 6)
}

function whoAmI(): { uid: number; username: string } {
  const uid = process.getuid?.() ?? 0
  try {
    return { uid, username: userInfo().username }
  } catch {
    // A uid without an entry in the user database, as in many containers.
    return { uid, username: `uid ${uid}` }
  }
}
