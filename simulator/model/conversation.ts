import type { ChatRequest } from './check-request.ts'
import { type CheckedFault, type CheckedTurn, ModelTurn, type ScriptedUsage } from './script.ts'

/** A token is taken to be so many bytes when a script says no usage. */
const bytesPerToken = 4
/** Two bodies are first compared in pieces of so many bytes. */
const compareBytes = 4096

/** A turn that reads what it was asked: for models that obey whatever they find. Null ends the script. */
export type TurnFunction = (request: ChatRequest, position: number) => ModelTurn | null

/**
 * How a request finds its turn. `answers`: by how many answers it holds already, so that the same request has the same answer
 * also after a crash. `order`: by how many different requests came before it, for sessions that shorten their history.
 */
export type TurnChoice = 'answers' | 'order'

export type Script = {
  match: string | null
  choice: TurnChoice
  turns: CheckedTurn[] | TurnFunction
  faultsUsed: Map<string, number>
  seen: Map<string, number>
  lastBody: Buffer
}

export type PendingFault = { fault: CheckedFault; skip: number; left: number; match: string | null }

export function newScript(turns: Script['turns'], match: string | null, choice: TurnChoice): Script {
  return { match, choice, turns, faultsUsed: new Map(), seen: new Map(), lastBody: Buffer.alloc(0) }
}

/** The newest script whose text occurs in the conversation; the one without a text when none does. */
export function chooseScript(scripts: readonly Script[], body: Buffer): Script {
  const script = scripts.findLast(each => each.match !== null && contains(body, each.match)) ?? scripts.find(each => each.match === null)
  if (!script) throw new Error('the fake model has no script')
  return script
}

/** The text as it stands within JSON: quotes and line ends are escaped there. */
function contains(body: Buffer, text: string): boolean {
  return body.includes(JSON.stringify(text).slice(1, -1))
}

export function positionOf(script: Script, request: ChatRequest, bodyHash: string): number {
  if (script.choice === 'answers') return request.messages.filter(message => message.role === 'assistant').length
  const position = script.seen.get(bodyHash) ?? script.seen.size
  script.seen.set(bodyHash, position)
  return position
}

export function chooseTurn(script: Script, request: ChatRequest, position: number): CheckedTurn {
  if (typeof script.turns !== 'function') return script.turns[position] ?? { text: 'done' }
  const turn = script.turns(request, position)
  return turn === null ? { text: 'done' } : ModelTurn.parse(turn)
}

/** The fault for this request, used up by asking: one that was put before all scripts, else the turn's own. */
export function takeFault(pending: PendingFault[], script: Script, turn: CheckedTurn, position: number, body: Buffer): CheckedFault | null {
  for (const each of pending) {
    if (each.left === 0 || (each.match !== null && !contains(body, each.match))) continue
    if (each.skip > 0) {
      each.skip -= 1
      continue
    }
    each.left -= 1
    return each.fault
  }
  return takeTurnFault(script, turn, position)
}

function takeTurnFault(script: Script, turn: CheckedTurn, position: number): CheckedFault | null {
  const faults = turn.fault === undefined ? [] : Array.isArray(turn.fault) ? turn.fault : [turn.fault]
  for (const [index, fault] of faults.entries()) {
    const key = `${position} ${index}`
    const used = script.faultsUsed.get(key) ?? 0
    if (used >= fault.times) continue
    script.faultsUsed.set(key, used + 1)
    return fault
  }
  return null
}

/** Bytes over four, with the prefix shared with this conversation's last request counted as cached. */
export function countUsage(script: Script, body: Buffer, turn: CheckedTurn): ScriptedUsage {
  const shared = sharedPrefix(script.lastBody, body)
  script.lastBody = body
  const said = (turn.text ?? '') + JSON.stringify(turn.toolCalls ?? '')
  return {
    promptTokens: Math.ceil(body.length / bytesPerToken),
    completionTokens: Math.max(1, Math.ceil(Buffer.byteLength(said) / bytesPerToken)),
    cachedTokens: Math.floor(shared / bytesPerToken),
    reasoningTokens: 0,
  }
}

function sharedPrefix(one: Buffer, two: Buffer): number {
  const end = Math.min(one.length, two.length)
  let at = 0
  while (at + compareBytes <= end && one.compare(two, at, at + compareBytes, at, at + compareBytes) === 0) at += compareBytes
  while (at < end && one[at] === two[at]) at += 1
  return at
}
