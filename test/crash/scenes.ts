import type { EventType } from '../../domain/index.ts'
import type { ChatRequest, ModelTurn, TurnFunction } from '../../simulator/index.ts'
import type { Expected } from './run-crash.ts'
import type { Stage, StageOptions } from './stage.ts'

const files: StageOptions['files'] = {
  // A shell's start instead of Node's, twelve times a task: a kill proves the same.
  '.github/grok.yml': 'version: 1\nchecks: ["sh check.sh"]\n',
  'check.sh': 'grep -q empty parser.js\n',
  'parser.js': 'exports.parse = text => text.split(";")[0].split("=")\n',
}

type Step = { name: string; arguments: Record<string, unknown> }

/** Every command appends its own name to a file outside the work tree, so that running one twice shows. */
const counted = (id: string, command: string) => ({
  name: 'run_terminal_command',
  arguments: { command: `echo ${id} >> ~/counter; ${command}`, description: id },
})

const steps: readonly Step[] = [
  { name: 'read_file', arguments: { target_file: 'parser.js' } },
  counted('reproduce', 'sh check.sh'),
  {
    name: 'write',
    arguments: {
      file_path: 'parser.js',
      content: 'const empty = []\nexports.parse = text => (text === "" ? empty : text.split(";")[0].split("="))\n',
    },
  },
  counted('touch', 'echo made > notes.txt'),
  counted('check', 'sh check.sh'),
]

/** A model that goes on with the first step that has no proper result yet: an interrupted one is asked for again. */
export function nextTurn(request: ChatRequest): ModelTurn {
  const done = new Set<string>()
  const asked = new Map<string, string>()
  for (const message of request.messages) {
    if (message.role === 'assistant') for (const call of message.tool_calls ?? []) asked.set(call.id, call.function.arguments)
    if (message.role === 'tool' && !String(message.content).includes('Interrupted: the process'))
      done.add(asked.get(message.tool_call_id) ?? '')
  }
  const next = steps.find(step => !done.has(JSON.stringify(step.arguments)))
  return next ? { toolCalls: [next] } : { text: 'Return an empty list for empty input' }
}

export const sampleFiles = files
/** Each of its three checkouts is prepared first. */
const preparedFiles = { ...files, '.github/grok.yml': 'version: 1\nsetup: ["test -f parser.js"]\nchecks: ["sh check.sh"]\n' }

/** Who may not write is asked a question. */
export function answerOrFix(request: ChatRequest): ModelTurn {
  if (request.tools?.some(tool => tool.function.name === 'write')) return nextTurn(request)
  const hasRead = request.messages.some(({ role }) => role === 'tool')
  return hasRead
    ? { text: 'It splits a line at its equals sign.' }
    : { toolCalls: [{ name: 'read_file', arguments: { target_file: 'parser.js' } }] }
}

/** One road through the product with what must be there at its end, however often it was killed on the way. */
export type Scene = {
  script: TurnFunction
  operator: object
  issueAuthor?: string
  files?: StageOptions['files']
  pull?: StageOptions['pull']
  play(stage: Stage): Promise<unknown>
  expected: Expected
}

const sayFix = (stage: Stage) => stage.comment('/grok fix')
const nothing = { pulls: 0, branches: 0 }

export const scenes = {
  fix: {
    script: nextTurn,
    operator: {},
    play: sayFix,
    expected: { outcome: 'succeeded', pulls: 1, branches: 1, eyes: 1, comments: 1 },
  },
  /** Signed commits only: GitHub makes the commit, and until its branch is there nothing of it is to be seen. */
  signed: {
    script: nextTurn,
    operator: {},
    async play(stage) {
      stage.simulator.github.addRuleset('octo/parser', { branches: ['grok/*'], rules: ['required_signatures'] })
      await sayFix(stage)
    },
    expected: { outcome: 'succeeded', pulls: 1, branches: 1, eyes: 1, comments: 1 },
  },
  prepared: {
    script: nextTurn,
    operator: {},
    files: preparedFiles,
    play: sayFix,
    expected: { outcome: 'succeeded', pulls: 1, branches: 1, eyes: 1, comments: 1 },
  },
  /** For what lies before a session: what comes after it would only take its time. */
  asked: {
    script: answerOrFix,
    operator: {},
    play: stage => stage.comment('/grok ask what does the parser do?'),
    expected: { ...nothing, outcome: 'succeeded', eyes: 1, comments: 1 },
  },
  tainted: {
    script: nextTurn,
    operator: {},
    issueAuthor: 'lena',
    play: sayFix,
    expected: { outcome: 'succeeded', pulls: 1, branches: 1, eyes: 1, comments: 1 },
  },
  /** Asked in a thread of the diff: the commit goes onto the branch, and its message into the thread. */
  pull: {
    script: nextTurn,
    operator: {},
    pull: { files: { 'note.txt': 'a note\n' }, fork: false },
    play: stage => stage.commentOnLine('/grok fix'),
    expected: {
      ...{ outcome: 'succeeded', pulls: 1, branches: 0, eyes: 1, comments: 1 },
      ...{ replies: 1, reviews: '', checkRuns: 'completed success' },
    },
  },
  /** The line that is changed is the fork's own, so that the change can be suggested. */
  fork: {
    script: nextTurn,
    operator: {},
    pull: { files: { 'parser.js': 'exports.parse = text => text.split(";")[0].split("=").slice()\n' }, fork: true },
    play: stage => stage.commentOnLine('/grok fix'),
    expected: {
      ...{ outcome: 'succeeded', pulls: 1, branches: 0, eyes: 1, comments: 1 },
      ...{ replies: 0, reviews: 'COMMENTED', checkRuns: 'completed success' },
    },
  },
  refused: {
    script: nextTurn,
    operator: {},
    play: stage => stage.comment('/grok fix', 'lena'),
    expected: { ...nothing, outcome: 'refused', eyes: 0, comments: 1 },
  },
  cancelled: {
    script: () => ({ toolCalls: [counted('wait', 'sleep 30')] }),
    operator: {},
    async play(stage) {
      await sayFix(stage)
      await stage.waitForEvent('tool.started')
      await stage.comment('/grok cancel')
    },
    expected: { ...nothing, outcome: 'cancelled', eyes: 2, comments: 1 },
  },
  modelFailed: {
    script: () => ({ fault: { kind: 'status', status: 400, message: 'bad request', times: 1_000 } }),
    operator: {},
    play: sayFix,
    expected: { ...nothing, outcome: 'errored', eyes: 1, comments: 1 },
  },
} as const satisfies Record<string, Scene>

/** Which scene passes an event type; a type that is missing here does not compile, and so has no crash case. */
export const sceneOf: Record<EventType, keyof typeof scenes> = {
  'task.accepted': 'asked',
  'task.refused': 'refused',
  'attempt.started': 'asked',
  'cancel.requested': 'cancelled',
  'workspace.opened': 'fix',
  'setup.settled': 'prepared',
  'taint.raised': 'tainted',
  'session.started': 'fix',
  'model.requested': 'fix',
  'model.answered': 'fix',
  'model.failed': 'modelFailed',
  'tool.started': 'fix',
  'tool.settled': 'fix',
  'snapshot.taken': 'prepared',
  'session.ended': 'fix',
  'change.collected': 'fix',
  'check.settled': 'fix',
  'change.judged': 'fix',
  'commit.made': 'fix',
  'effect.prepared': 'fix',
  'effect.dispatched': 'fix',
  'effect.settled': 'fix',
  'task.ended': 'fix',
}
