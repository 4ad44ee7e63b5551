import { type ProgressUpdate, runSession, type SessionPorts, type SessionResult, type SessionStart } from '../../agent/index.ts'
import type { NewEvent, RecordedEvent } from '../../domain/index.ts'
import { eventSchemas } from '../../domain/index.ts'
import type { FolderSandbox } from './folder-sandbox.ts'

export type Ran = { result: SessionResult; events: NewEvent[]; progress: ProgressUpdate[] }

export function makeStart(more: Partial<SessionStart> = {}): SessionStart {
  return {
    taskId: 't_01TEST',
    purpose: 'change',
    request: {
      text: '/grok fix the parser',
      requester: 'mona',
      subject: { kind: 'issue', number: 7, title: 'Parser crashes', body: 'It crashes on empty input.' },
    },
    repository: { owner: 'octo', name: 'demo', baseRef: 'main', baseSha: 'a'.repeat(40) },
    trust: { subject: 'trusted', repository: 'trusted' },
    instructions: [],
    grant: { profile: 'workspace', capabilities: ['read', 'write', 'run'], effects: [] },
    limits: { turnsMax: 20, wallMs: 600_000, tokensMax: 1_000_000, costMicroUsdMax: null },
    deadlineAt: Date.now() + 600_000,
    network: 'none',
    family: 'grok_build',
    model: { name: 'grok-4', outputTokensMax: 8_192, outputTokensField: 'max_tokens', temperature: null, price: null },
    tuning: { backoffBaseMs: 5, backoffMaxMs: 20 },
    recorded: [],
    ...more,
  }
}

export type Harness = {
  sandbox: FolderSandbox
  model: { url: string }
  ports?: Partial<SessionPorts>
  start?: Partial<SessionStart>
  events?: NewEvent[]
}

export function makePorts(harness: Harness, events: NewEvent[], progress: ProgressUpdate[]): SessionPorts {
  return {
    async record(batch) {
      for (const event of batch) {
        // The strict parse of the ledger: a field that is wrong or too much fails here, not in somebody else's folder.
        eventSchemas[event.type].parse(event.payload)
        events.push(event)
      }
      return 'recorded'
    },
    sandbox: harness.sandbox,
    model: { baseUrl: harness.model.url, apiKey: 'sk-test-key' },
    snapshot: harness.sandbox.snapshot,
    restore: harness.sandbox.restore,
    killSwitch: () => ({ kind: 'clear' }),
    now: Date.now,
    random: Math.random,
    cancel: new AbortController().signal,
    progress: update => void progress.push(update),
    ...harness.ports,
  }
}

export async function runIn(harness: Harness): Promise<Ran> {
  const events: NewEvent[] = harness.events ?? []
  const progress: ProgressUpdate[] = []
  const result = await runSession(makeStart(harness.start), makePorts(harness, events, progress))
  return { result, events, progress }
}

/** Events as a ledger gives them back. */
export function asRecorded(events: readonly NewEvent[], attempt = 1): RecordedEvent[] {
  return events.map((event, index) => ({
    ...event,
    seq: index + 1,
    version: 1,
    actor: 'worker:test',
    attempt,
    at: Date.now(),
    hash: '0'.repeat(64),
  })) as RecordedEvent[]
}
