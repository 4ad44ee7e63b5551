import type { Loss, SettledCall } from './fold-session.ts'

/** Remarks of ours between turns. They depend on the record alone, so every attempt makes the same ones. */

const labelCharsMax = 120

export function lossNote(loss: Loss): string {
  const lost = loss.calls.map(lineOf)
  const gone =
    lost.length === 0
      ? 'No recorded change of a file is lost.'
      : `The results above stand, but what these calls had changed in files is gone; make them again if you need it:\n${lost.join('\n')}`
  return `[The run was interrupted here and went on in a new process. The work tree was restored to snapshot ${loss.snapshot} and the edits after it were made again. ${gone}${unrepeatableText(loss)}\nFiles that git ignores, /tmp and the home folder are as they were after setup.]`
}

/** Git may keep other bytes of a file than a command wrote (line ends, `ident`): an edit of them does not fit the restored file. */
function unrepeatableText({ unrepeatable = [] }: Loss): string {
  if (unrepeatable.length === 0) return ''
  return `\nBut these edits were interrupted and are lost, since they did not give the same bytes on the restored files, which stay as restored; read a file before you edit it again:\n${unrepeatable.map(lineOf).join('\n')}`
}

function lineOf(call: SettledCall): string {
  return `- ${call.name}: ${labelOf(call.meta)}`
}

export function repetitionNote(): string {
  return '[You have made the same calls several times in a row. Their results will not change. Do something else, or end with your answer.]'
}

function labelOf(meta: { [key: string]: unknown }): string {
  const input = meta.input as { command?: unknown; path?: unknown } | undefined
  const text = String(input?.command ?? input?.path ?? '')
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > labelCharsMax ? `${line.slice(0, labelCharsMax)}…` : line
}
