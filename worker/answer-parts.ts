import { workerLimits } from './limits.ts'

/** What the prompt asks a session's answer to say under a label. */
export const partNames = { why: 'Why', lookFirst: 'Look first at', notTested: 'Not tested' } as const
export type PartName = keyof typeof partNames

/** `rest` is what has no label, or more words than a label may have, so nothing is lost. */
export type AnswerParts = { title: string; rest: string } & Record<PartName, string>

const labelled = /^(?:[-*] +)?\**(why|look first at|not tested)\b[^:*\n]{0,40}\**:\**[ \t]+(?=\S)/i
const fence = /^ {0,3}(?:`{3,}|~{3,})/

/** The first line is the title. A label counts once, at the beginning of a line outside of code, up to the next empty line. */
export function readAnswerParts(text: string): AnswerParts {
  const parts: Record<PartName, string> = { why: '', lookFirst: '', notTested: '' }
  const rest: string[] = []
  let open: PartName | null = null
  let isCode = false
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const isFence = fence.test(line)
    const isPlain = !(isCode || isFence || line.trim() === '')
    if (isFence) isCode = !isCode
    const [lead, word] = (isPlain && labelled.exec(line)) || []
    const name = partNameOf(word)
    if (!isPlain) open = null
    if (lead !== undefined && name !== null && parts[name] === '') {
      open = name
      parts[name] = line.slice(lead.length).trim()
    } else if (open === null) rest.push(line)
    else parts[open] += ` ${line.trim()}`
  }
  for (const name of Object.keys(partNames) as PartName[]) {
    if (parts[name].length <= workerLimits.labelledCharactersMax) continue
    rest.push('', `${partNames[name]}: ${parts[name]}`)
    parts[name] = ''
  }
  const at = rest.findIndex(line => cleanHeading(line) !== '')
  const title = cleanHeading(rest[at] ?? '')
  // One that is cut where it stands as the title is kept whole here.
  if (title.length <= workerLimits.titleCharactersMax) rest.splice(at, 1)
  return { title, ...parts, rest: rest.join('\n').trim() }
}

function partNameOf(word: string | undefined): PartName | null {
  const found = Object.entries(partNames).find(([, name]) => name.toLowerCase() === word?.toLowerCase())
  return (found?.[0] as PartName | undefined) ?? null
}

/**
 * A line as a heading: no Markdown can begin with what is left, so that it stands anywhere in a page and opens nothing. Cut
 * before it is cleaned: far more than a title holds, and no line is long enough to hold a thread.
 */
export function cleanHeading(line: string): string {
  return line
    .slice(0, 4 * workerLimits.titleCharactersMax)
    .replace(/[*`_]+/g, '')
    .replace(/^(?:[^\p{L}\p{N}"'(]|\d{1,9}[.)](?=\s))+/u, '')
    .replace(/[.\s]+$/, '')
    .trim()
}
