import type { EventType, RecordedEvent } from '../../domain/index.ts'
import type { Evidence, TaskEvidence, Thing } from './evidence.ts'
import type { Fault } from './oracle.ts'

/** Faults as they would show in the records of a clean run: whoever does not find one of them finds nothing. */
type Plant = { kind: Fault['kind']; what: string; plant(evidence: Evidence): void }

export const plants: readonly Plant[] = [
  {
    kind: 'lost',
    what: 'a command that was answered 2xx and became nothing',
    plant: evidence => void evidence.asked.push({ commentId: 1, accepted: true }),
  },
  { kind: 'lost', what: 'a task without an outcome', plant: evidence => without(fixOf(evidence), 'task.ended') },
  { kind: 'lost', what: 'a pull request that was confirmed and is not there', plant: evidence => drop(evidence, 'pull') },
  { kind: 'lost', what: 'a push that was confirmed and is not there', plant: evidence => void evidence.pushes.splice(0) },
  { kind: 'lost', what: 'a success of which nothing was delivered', plant: evidence => without(fixOf(evidence), 'effect.settled') },
  {
    kind: 'lost',
    what: 'a change that is in no branch and in no patch',
    plant(evidence) {
      without(fixOf(evidence), 'effect.settled')
      fixOf(evidence).hasPatch = false
    },
  },
  { kind: 'duplicate effect', what: 'two comments of one key', plant: evidence => twice(evidence, 'comment', body => body) },
  {
    kind: 'duplicate effect',
    what: 'two comments of which one has lost its marker',
    plant: evidence => twice(evidence, 'comment', body => body.replace(/^<!--.*-->\n/, '')),
  },
  { kind: 'duplicate effect', what: 'two pull requests', plant: evidence => twice(evidence, 'pull', body => body) },
  { kind: 'duplicate effect', what: 'two check runs of one task', plant: evidence => twice(evidence, 'check-run', body => body) },
  { kind: 'duplicate effect', what: 'two reactions of ours', plant: evidence => twice(evidence, 'reaction', body => body) },
  {
    kind: 'duplicate effect',
    what: 'a reaction that was taken away and given again',
    plant: evidence =>
      void evidence.requests.push({ ...find(evidence.requests, ({ url, method }) => method === 'POST' && url.endsWith('/reactions')) }),
  },
  {
    kind: 'duplicate effect',
    what: 'a branch that was pushed with two trees',
    plant: evidence => void evidence.pushes.push({ ...find(evidence.pushes, () => true), sha: '1'.repeat(40), tree: '2'.repeat(40) }),
  },
  {
    kind: 'duplicate model call',
    what: 'a request that was made after its answer was recorded',
    plant: evidence => void evidence.modelRequests.push({ ...find(evidence.modelRequests, () => true), at: evidence.takenAt }),
  },
  {
    kind: 'duplicate model call',
    what: 'more requests made again than there were disturbances',
    plant: evidence => void evidence.modelRequests.push({ ...find(evidence.modelRequests, () => true) }),
  },
  {
    kind: 'duplicate tool run',
    what: 'a command that ran twice although its result was recorded',
    plant(evidence) {
      fixOf(evidence).runs['reproduce'] = 2
    },
  },
  { kind: 'zombie write', what: 'a write by an attempt that another one had replaced', plant: takeOver },
  {
    kind: 'unknown left',
    what: 'an effect of which nobody knows whether it is there',
    plant(evidence) {
      const settled = eventOf(fixOf(evidence), 'effect.settled')
      if (settled.type === 'effect.settled' && settled.payload) settled.payload.state = 'unknown'
    },
  },
  {
    kind: 'unknown left',
    what: 'an effect that was sent and never settled',
    plant(evidence) {
      const { events } = fixOf(evidence)
      events.splice(events.indexOf(eventOf(fixOf(evidence), 'effect.settled')), 1)
    },
  },
  {
    kind: 'stuck',
    what: 'a task in which nothing happened for more than a minute',
    plant(evidence) {
      const { events } = fixOf(evidence)
      evidence.calmAt = 0
      for (const event of events.slice(events.indexOf(eventOf(fixOf(evidence), 'session.started')))) event.at += 61_000
    },
  },
  { kind: 'silent wrong', what: 'a proof without the receipt of a check', plant: evidence => without(fixOf(evidence), 'check.settled') },
  {
    kind: 'silent wrong',
    what: 'a bundle that does not verify',
    plant(evidence) {
      fixOf(evidence).bundle = 'does not verify'
    },
  },
  {
    kind: 'silent wrong',
    what: 'no bundle at all',
    plant(evidence) {
      fixOf(evidence).bundle = 'missing'
    },
  },
  {
    kind: 'silent wrong',
    what: 'a broken chain',
    plant(evidence) {
      fixOf(evidence).chainFault = 'broken at 3'
    },
  },
  {
    kind: 'silent wrong',
    what: 'a check run that was left in progress',
    plant(evidence) {
      const run = thingOf(evidence, 'check-run')
      run.body = run.body.replace('completed success', 'in_progress null')
    },
  },
  {
    kind: 'silent wrong',
    what: 'a comment that is much older than the outcome',
    plant(evidence) {
      for (const thing of evidence.things) if (thing.kind === 'comment') thing.at -= 60_000
    },
  },
  {
    kind: 'silent wrong',
    what: 'a comment that still says that it runs',
    plant(evidence) {
      for (const thing of evidence.things) thing.body = thing.body.replace('— done', '— running')
    },
  },
  {
    kind: 'silent wrong',
    what: 'money that is still set aside',
    plant(evidence) {
      evidence.reserved['repository:1:2026-01-01'] = 1
    },
  },
  { kind: 'leak', what: 'a process of a run', plant: evidence => void evidence.leftovers.push('4711 sleep') },
  { kind: 'leak', what: 'an attempt that is still open', plant: evidence => void evidence.openOwners.push('serve-1') },
  {
    kind: 'leak',
    what: 'a branch that nobody pushed',
    plant(evidence) {
      evidence.branches['grok/left'] = '1'.repeat(40)
    },
  },
]

/** Another attempt begins before the first one's writes, and the clock of nobody is wrong. */
function takeOver(evidence: Evidence): void {
  const { events } = fixOf(evidence)
  const started = eventOf(fixOf(evidence), 'attempt.started')
  events.splice(events.indexOf(started) + 1, 0, { ...started, attempt: started.attempt + 1 })
}

/** The first that was asked. */
function fixOf(evidence: Evidence): TaskEvidence {
  return find([...evidence.tasks].reverse(), () => true)
}

function eventOf({ events }: TaskEvidence, type: EventType): RecordedEvent {
  return find(events, event => event.type === type)
}

function without(task: TaskEvidence, type: EventType): void {
  task.events = task.events.filter(event => event.type !== type)
}

function thingOf({ things }: Evidence, kind: Thing['kind']): Thing {
  return find(things, thing => thing.kind === kind)
}

function drop(evidence: Evidence, kind: Thing['kind']): void {
  evidence.things = evidence.things.filter(thing => thing !== thingOf(evidence, kind))
}

function twice(evidence: Evidence, kind: Thing['kind'], body: (text: string) => string): void {
  const thing = thingOf(evidence, kind)
  evidence.things.push({ ...thing, id: thing.id + 1_000_000, body: body(thing.body) })
}

/** A plant that finds no ground would prove nothing. */
function find<T>(list: readonly T[], fits: (each: T) => boolean): T {
  const found = list.find(fits)
  if (found === undefined) throw new Error('the clean run has nothing to spoil here')
  return found
}
