import { type EventType, type Payload, type RecordedEvent, took } from '../../domain/index.ts'

/** One line for each type of event: what happened, in the words of its payload. Foreign text in it is not escaped yet. */
const lines: { [Type in EventType]: (payload: Payload<Type>) => string } = {
  'task.accepted': ({ command, requester, repository, base, delivery }) =>
    `${command.verb} asked by ${requester.login} in ${repository.owner}/${repository.name} at ${base.ref} ${short(base.sha)}, delivered as ${delivery}`,
  'task.refused': ({ command, requester, reason }) => `${command.verb} asked by ${requester.login}, refused: ${reason}`,
  'attempt.started': ({ owner, recovers }) => `by ${owner}${recovers === null ? '' : `, after attempt ${recovers}`}`,
  'cancel.requested': ({ by, reason }) => `by ${by}: ${reason}`,
  'workspace.opened': ({ baseSha, files, sandbox }) => `${files} files of ${short(baseSha)}, sandbox ${sandbox.state}`,
  'setup.settled': ({ commands, exitCode, durationMs }) =>
    commands.length === 0 ? 'nothing to set up' : `${commands.join('; ')}: exit ${exitCode ?? 'none'}, ${took(durationMs)}`,
  'taint.raised': ({ source, detail }) => `${source}: ${detail}`,
  'session.started': ({ model, tools }) => `${model} with ${tools.join(', ')}`,
  'model.requested': ({ turn }) => `turn ${turn}`,
  'model.answered': ({ turn, toolCalls, usage, tries, durationMs }) =>
    `turn ${turn}: ${toolCalls.map(call => call.name).join(', ') || 'text'}, ${usage.inputTokens}+${usage.outputTokens} tokens, ${took(durationMs)}${tries > 1 ? `, ${tries} tries` : ''}`,
  'model.failed': ({ turn, kind, message, tries }) => `turn ${turn}: ${kind}, ${message}, ${tries} tries`,
  'tool.started': ({ turn, name }) => `turn ${turn}: ${name}`,
  'tool.settled': ({ turn, name, status, exitCode, decision, durationMs }) =>
    `turn ${turn}: ${name} ${status}${exitCode === null ? '' : `, exit ${exitCode}`}${status === 'denied' ? `, rule ${decision.rule}` : ''}, ${took(durationMs)}`,
  'snapshot.taken': ({ turn, tree, lost }) =>
    `turn ${turn}: tree ${short(tree)}${lost ? `, without ${lost.length} edits that could not be made again` : ''}`,
  'session.ended': ({ reason, turns }) => `${reason} after ${turns} turns`,
  'change.collected': ({ files, leftOut, refused }) =>
    `${files.length} files${leftOut.length > 0 ? `, ${leftOut.length} left out` : ''}${refused.length > 0 ? `, ${refused.length} refused` : ''}`,
  'check.settled': ({ name, cell, exitCode, killedBy, cached, durationMs }) =>
    `${name} in ${cell}: ${killedBy ? `killed, ${killedBy}` : `exit ${exitCode}`}${cached ? ', same tree' : ''}, ${took(durationMs)}`,
  'change.judged': ({ verdict, reasons }) => [verdict, ...reasons].join('; '),
  'commit.made': ({ sha, branch }) => `${short(sha)} for ${branch}`,
  'effect.prepared': ({ kind, key }) => `${kind} ${key}`,
  'effect.dispatched': ({ effectId, try: times }) => `${effectId}, try ${times}`,
  'effect.settled': ({ effectId, state, reason, foundByReadBack }) =>
    `${effectId} ${state}${foundByReadBack ? ', found by read-back' : ''}${reason ? `: ${reason}` : ''}`,
  'task.ended': ({ outcome, reason, code }) => `${outcome}: ${reason}${code === undefined ? '' : ` [${code}]`}`,
}

export function describeEvent(event: RecordedEvent): string {
  if (event.payload === null) return 'erased'
  // The table's row and the payload belong to the same type, which TypeScript can not follow through an index.
  return (lines[event.type] as (payload: unknown) => string)(event.payload)
}

function short(sha: string): string {
  return sha.slice(0, 7)
}
