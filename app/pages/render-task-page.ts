import { duration, money, redactionOf, type TaskState } from '../../domain/index.ts'
import type { TaskRow } from '../../ledger/index.ts'
import { short, utc } from './foreign-text.ts'
import { type Html, html } from './html.ts'
import { ownAddress } from './own-address.ts'
import type { Document } from './page-answer.ts'
import type { TaskRecord } from './read-task-record.ts'
import { changeSection } from './render-change.ts'
import { checksSection } from './render-checks.ts'
import { lookAtSection } from './render-look-at.ts'
import { eventsSection, receiptsSection } from './render-record.ts'
import { verdictSection } from './render-verdict.ts'

/** The link this page was asked for with, and whether there is a bundle behind it. */
export type LinkView = { k: string; until: number; bundle: boolean; programName: string }
export type PageView = LinkView & { patch: boolean; githubHost: string; now: number }

/**
 * The page of one task: the verdict first, then what a reviewer looks at, then everything it rests on. What a model or a
 * command put out is shown to those readers only whose bundle has it too.
 */
export function renderTaskPage(record: TaskRecord, view: PageView): Document {
  const { row, state } = record
  const showOutputs = state.accepted !== null && redactionOf[state.accepted.repository.visibility] === 'none'
  const body = html`<a class="skip" href="#verdict">To the verdict</a>
<header>
${stateLine(stateOf(row))}
<h1>${headingOf(row, state)}</h1>
${facts(row, state, view.now)}
${links(row, state, view)}
<nav aria-label="On this page"><ul>${anchors.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>
<main>
${record.isWhole ? null : html`<p><strong>Not all events of this task were read: it has too many for a page.</strong></p>`}
${verdictSection(state)}
${lookAtSection(state, showOutputs)}
${changeSection(state)}
${checksSection(state, showOutputs)}
${receiptsSection(record)}
${eventsSection(record)}
</main>
${footer(view)}`
  return { title: titleOf(row, state), body }
}

const anchors = [
  ['verdict', 'Verdict'],
  ['look-at', 'Look at'],
  ['change', 'Change'],
  ['checks', 'Checks'],
  ['receipts', 'Receipts'],
  ['events', 'Events'],
] as const

/** What is left of an erased task: that there was one. */
export function renderErased(row: TaskRow, erasedAt: number, link: LinkView): Document {
  const body = html`<header>
${stateLine('erased')}
<h1>${short(row.verb)} · ${short(row.repository)}</h1>
</header>
<main>
<p>What this task was asked, did and proved was erased on ${utc(erasedAt)} UTC. It was accepted on ${utc(row.acceptedAt)} UTC${row.outcome === null ? '' : ` and ended as ${row.outcome}`}. The headers of its record are left, and its chain still verifies.</p>
${link.bundle ? html`<p><a href="${row.taskId}/bundle.json?k=${link.k}">bundle.json, what is left of its record</a></p>` : null}
</main>
${footer(link)}`
  return { title: `erased – ${short(row.verb)} – ${short(row.repository)}`, body }
}

function stateOf({ outcome, state }: TaskRow): string {
  return outcome ?? state
}

/** A word and a shape; the colour only repeats them. */
function stateLine(word: string): Html {
  const [shape, tone] = shapes[word] ?? ['○', 'quiet']
  return html`<p class="state ${tone}"><span aria-hidden="true">${shape} </span>${word}</p>`
}

const shapes: Readonly<Record<string, readonly [shape: string, tone: string]>> = {
  succeeded: ['●', 'good'],
  failed: ['■', 'bad'],
  errored: ['▲', 'bad'],
  'timed-out': ['▲', 'bad'],
  refused: ['◆', 'odd'],
  cancelled: ['◆', 'odd'],
  superseded: ['◆', 'odd'],
}

function placeOf(row: TaskRow, { accepted, refused }: TaskState): string {
  const subject = (accepted ?? refused)?.subject
  return `${row.repository}${subject ? ` #${subject.number}` : ''}`
}

function titleOf(row: TaskRow, state: TaskState): string {
  return `${stateOf(row)} – ${short(row.verb)} – ${short(placeOf(row, state))}`
}

/** The task's own title, or what was asked when it has none. */
function headingOf(row: TaskRow, { accepted, refused }: TaskState): string {
  const asked = accepted ?? refused
  const what = asked?.subject?.title || asked?.command.text || row.repository
  return `${short(row.verb)} · ${short(what)}`
}

function facts(row: TaskRow, state: TaskState, now: number): Html {
  const asked = state.accepted ?? state.refused
  const startedAt = state.attempts[0]?.at
  const took = startedAt === undefined ? null : duration((row.endedAt ?? now) - startedAt)
  const { commit, accepted } = state
  return html`<p>${short(placeOf(row, state))}${asked ? html`, ${asked.repository.visibility} repository, asked by <bdi>${short(asked.requester.login)}</bdi>` : null} on ${utc(row.acceptedAt)} UTC${took === null ? null : row.endedAt === null ? `, running for ${took}` : `, took ${took}`}${spentWords(state)}.</p>
${row.state === 'ended' ? null : html`<p class="quiet">As of ${utc(now)} UTC. This page does not change by itself.</p>`}
${accepted ? html`<p>${accepted.pull ? html`Head <code>${accepted.pull.headSha.slice(0, 12)}</code> of <code>${short(accepted.pull.headRef)}</code>, base` : 'Base'} <code>${accepted.base.sha.slice(0, 12)}</code> of <code>${short(accepted.base.ref)}</code>${commit ? html`, commit <code>${commit.sha.slice(0, 12)}</code> for <code>${short(commit.branch)}</code>` : null}</p>` : null}`
}

/** No sum where a price is not known: it would be too low. */
function spentWords({ spent, session }: TaskState): string {
  const known = spent.unpriced === 0 && spent.lostRequests === 0 && spent.costMicroUsd > 0
  const count = spent.inputTokens + spent.outputTokens
  const turns = session?.turns.length ?? 0
  if (turns === 0) return ''
  return `, ${turns} ${turns === 1 ? 'turn' : 'turns'}, ${known ? money(spent.costMicroUsd) : `${count} tokens`}`
}

const effectNames: Readonly<Record<string, string>> = {
  'pull-request': 'Pull request',
  progress: 'Comment about its progress',
  comment: 'Comment',
  reply: 'Reply',
  'check-run': 'Check run',
  review: 'Suggestions',
}

function links(row: TaskRow, state: TaskState, { k, patch, bundle, githubHost }: PageView): Html {
  const repository = (state.accepted ?? state.refused)?.repository
  const made = Object.values(state.effects).flatMap(({ kind, state: phase, remote }) => {
    const address = phase === 'confirmed' && repository ? ownAddress(remote?.['url'], { ...repository, githubHost }) : null
    const number = typeof remote?.['number'] === 'number' ? ` #${remote['number']}` : ''
    return address === null ? [] : [{ address, name: `${effectNames[kind] ?? kind}${number}` }]
  })
  const seen = new Map(made.map(link => [link.address, link]))
  const files = [
    ...(patch ? [{ address: `${row.taskId}/change.patch?k=${k}`, name: 'change.patch' }] : []),
    ...(bundle ? [{ address: `${row.taskId}/bundle.json?k=${k}`, name: 'bundle.json, the signed record' }] : []),
    { address: keysAddress, name: 'Public keys' },
  ]
  return html`<nav aria-label="Results"><ul>${[...seen.values(), ...files].map(({ address, name }) => html`<li><a href="${address}">${name}</a></li>`)}</ul></nav>`
}

/** As seen from `/r/<task>`, so that it also fits behind a proxy that puts a path before ours. */
const keysAddress = '../.well-known/grokbot/keys.json'

function footer({ until, bundle, programName }: LinkView): Html {
  return html`<footer>
${bundle ? html`<p>To check the record without this page: save bundle.json and <a href="${keysAddress}">keys.json</a>, then <code>${programName} verify bundle.json --keys keys.json --receipts</code></p>` : null}
<p class="quiet">Whoever has the link to this page can read it until ${utc(until)} UTC. ${programName} is not affiliated with xAI.</p>
</footer>`
}
