import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Prompts } from '../prompts/index.ts'
import { clip } from './clip.ts'
import { removeHiddenText } from './hidden-text.ts'
import type { SessionLimits } from './limits.ts'
import type { SessionStart } from './session.ts'
import type { Tool } from './tools/tool.ts'
import { toolNames } from './tools/tool-names.ts'
import { type Frames, openFrames } from './untrusted.ts'

export type { Prompts }

/** Everything the first prompts are made from, as one record: whoever has it can make them again and compare. */
type PromptContext = {
  version: 1
  purpose: SessionStart['purpose']
  family: string
  model: string
  tools: readonly { name: string; kind: string; schemaHash: string }[]
  frames: { data: string; instructions: string }
  workspace: string
  network: SessionStart['network']
  repository: SessionStart['repository']
  requester: string
  request: string
  subject: { kind: 'issue' | 'pull'; number: number; title: string; body: string } | null
  instructions: readonly { path: string; text: string }[]
  templates: Readonly<Record<string, string>>
}

export type FirstPrompts = {
  systemPrompt: string
  userPrompt: string
  promptHash: string
  context: PromptContext
  taints: readonly { source: string; detail: string }[]
}

export async function makeFirstPrompts(
  start: SessionStart,
  tools: ReadonlyMap<string, Tool>,
  prompts: Prompts,
  limits: SessionLimits,
): Promise<FirstPrompts> {
  const frames = openFrames(start.taskId)
  const subject = start.request.subject && (await readSubject(start.request.subject, start.trust.subject, limits))
  const request = await removeHiddenText(start.request.text)
  const inputs = {
    version: 1 as const,
    purpose: start.purpose,
    family: start.family,
    model: start.model.name,
    tools: [...tools.values()].map(tool => ({ name: tool.name, kind: tool.kind, schemaHash: sha256(JSON.stringify(tool.parameters)) })),
    frames: { data: frames.dataTag, instructions: frames.instructionsTag },
    workspace: '/workspace',
    network: start.network,
    repository: start.repository,
    requester: start.request.requester,
    request: clip(request.visible, limits.issueBytesMax),
    subject: subject?.subject ?? null,
    instructions: start.instructions.map(file => ({ path: file.path, text: clip(file.text, limits.instructionsBytesMax) })),
  }
  const rendered = renderPrompts(inputs, frames, tools, prompts)
  const context: PromptContext = { ...inputs, templates: prompts.hashes() }
  const promptHash = sha256(`grokbot prompt v1\n${canonicalize(context)}`)
  return { ...rendered, promptHash, context, taints: subject?.taints ?? [] }
}

async function readSubject(
  subject: NonNullable<SessionStart['request']['subject']>,
  trust: 'trusted' | 'untrusted',
  limits: SessionLimits,
) {
  const title = await removeHiddenText(subject.title)
  const body = await removeHiddenText(subject.body)
  const taints: { source: string; detail: string }[] = []
  const removed = [...title.removed, ...body.removed]
  const where = nameOf(subject)
  if (removed.length > 0)
    taints.push({ source: 'hidden-text', detail: `${where}: ${removed.map(row => `${row.count} ${row.kind}`).join(', ')}` })
  if (trust === 'untrusted') taints.push({ source: 'untrusted-text', detail: `${where}: its author is not known to have write access` })
  return {
    subject: { ...subject, title: clip(title.visible, limits.issueBytesMax), body: clip(body.visible, limits.issueBytesMax) },
    taints,
  }
}

/** An issue that came as a file has no number. */
function nameOf({ kind, number }: { kind: string; number: number }): string {
  return number > 0 ? `${kind} #${number}` : `the ${kind}`
}

const systemTemplates: { [purpose in SessionStart['purpose']]: string } = { change: 'system', answer: 'question' }

const networks: { [network in SessionStart['network']]: string } = {
  none: 'They have no network; their own loopback works.',
  proxy: 'They reach a few allowed hosts through a proxy and nothing else.',
  host: 'They have a network.',
}

function renderPrompts(inputs: Omit<PromptContext, 'templates'>, frames: Frames, tools: ReadonlyMap<string, Tool>, prompts: Prompts) {
  const { subject, repository } = inputs
  const clientNames = new Map([...tools.values()].map(tool => [tool.primitive, tool.name]))
  const template = systemTemplates[inputs.purpose]
  const systemPrompt = prompts.render(template, {
    ...toolNames(prompts, template, clientNames),
    data: frames.dataTag,
    instructions: frames.instructionsTag,
    workspace: inputs.workspace,
    network: networks[inputs.network],
  })
  const userPrompt = prompts.render('task', {
    repository: `${repository.owner}/${repository.name}`,
    place: placeOf(repository),
    requester: inputs.requester,
    request: oneLine(inputs.request),
    subject: subject
      ? `\n# The ${subject.kind} it is about\n${frames.data(nameOf(subject), `Title: ${oneLine(subject.title)}\n\n${subject.body}`)}\n`
      : '',
    instructions: inputs.instructions
      .map(
        file =>
          `\n# Instructions of the repository (${oneLine(file.path)} of the base branch)\n${frames.instructions(file.path, file.text)}\n`,
      )
      .join(''),
  })
  return { systemPrompt, userPrompt }
}

/** Names of branches are shown as JSON strings: one may read like a sentence to the model. */
function placeOf({ baseRef, baseSha, pull }: SessionStart['repository']): string {
  if (!pull) return `branch ${oneLine(baseRef)} at ${baseSha}`
  const diff = `\`git diff ${pull.baseSha}...HEAD\` shows what it changes`
  return `pull request #${pull.number} into ${JSON.stringify(pull.baseRef)}. Its head ${pull.headSha} is checked out; ${diff}`
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
