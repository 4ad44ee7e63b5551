import { escapeShort, escapeText, toSafeJson } from '../escape.ts'
import { exitCodeOf, exitCodes } from '../exit.ts'
import type { Play, PlayedEffect } from './play-delivery.ts'

export function printPlay(play: Play, json: boolean): void {
  process.stdout.write(json ? `${toSafeJson(play)}\n` : `${renderPlay(play)}\n`)
}

export function exitCodeOfPlay({ acceptance, outcome }: Play): number {
  if (acceptance.kind === 'ignored') return acceptance.malformed ? exitCodes.usage : exitCodes.done
  if (acceptance.kind === 'refused') return exitCodes.refused
  return outcome === null ? exitCodes.failed : exitCodeOf(outcome)
}

export function renderPlay({ acceptance, effects, outcome, reason, code, taskId, more }: Play): string {
  const { kind, command } = acceptance
  const { words, reason: short } = acceptance
  const why = words === undefined ? short : `${words} [${short}]`
  return [
    `${kind}${command ? ` ${escapeText(command.verb)}` : ''}${why ? `: ${escapeShort(why, 300)}` : ''}`,
    ...effects.flatMap(effect => [`effect   ${effectText(effect)}`, ...bodyLines(effect)]),
    ...(outcome ? [`outcome  ${outcome}${reason ? `: ${escapeShort(reason, 300)}` : ''}${code ? ` [${code}]` : ''}`] : []),
    ...(taskId ? [`task     ${escapeText(taskId)}`] : []),
    ...more.map(
      each => `and      ${each.acceptance.kind} ${escapeText(each.acceptance.command?.verb ?? '')}: ${each.outcome ?? 'no outcome'}`,
    ),
  ].join('\n')
}

function effectText({ kind, state, reason, remote }: PlayedEffect): string {
  const where = typeof remote?.url === 'string' ? `  ${escapeText(remote.url)}` : ''
  return `${kind.padEnd(13)} ${state}${reason ? `: ${escapeShort(reason, 200)}` : ''}${where}`
}

/** The words themselves, as the fake GitHub is gone by the time somebody could look there. */
function bodyLines({ kind, body = '' }: PlayedEffect): string[] {
  if (kind === 'progress' || body === '') return []
  return body.split('\n').map(line => `         | ${escapeShort(line, 300)}`)
}
