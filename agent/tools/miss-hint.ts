import { clip } from '../clip.ts'
import type { TextFile } from './text-file.ts'
import type { ToolContext } from './tool.ts'

const lineBytesMax = 200
const confusableLinesMax = 8

type Text = Extract<TextFile, { kind: 'text' }>

/** Why a text was not found, and where the model should look: every sentence is something that was seen in the file. */
export function missHint(path: string, file: Text, wanted: string, names: ToolContext['names']): string {
  const parameter = names.parameter('oldString')
  const sentences = [`${parameter} was not found in ${path}; nothing was changed.`]
  const lines = file.text.split('\n').map(line => line.replace(/\r$/, ''))
  const sought = wanted.replaceAll('\r\n', '\n')
  const numbered = /^\s*\d+→/m.test(sought)
  const spaces = numbered ? null : lineOf(collapse(file.text), collapse(sought))
  const folded = foldConfusables(sought)
  if (numbered) sentences.push(`It holds line numbers (12→): they are added by ${names.tool('read')} and are not part of the file.`)
  else if (spaces !== null)
    sentences.push(`It is there from line ${spaces} on but for white space: copy the indentation and blanks exactly.`)
  else if (foldConfusables(file.text).includes(folded)) sentences.push(confusables(lines, folded))
  else {
    const near = nearestLine(lines, sought)
    if (near) sentences.push(`The nearest line is ${near.number}→${clip(near.line, lineBytesMax)}`)
  }
  if (file.invalidSequences)
    sentences.push('The file is not valid UTF-8: letters outside ASCII can not be matched; choose a text without them.')
  sentences.push(`Read the place again with ${names.tool('read')} before the next try.`)
  return sentences.join(' ')
}

function collapse(text: string): string {
  return text
    .split('\n')
    .map(line => line.replace(/\s+/g, ' ').trim())
    .join('\n')
}

function lineOf(text: string, sought: string): number | null {
  const trimmed = sought.replace(/^\n+|\n+$/g, '')
  const at = trimmed === '' ? -1 : text.indexOf(trimmed)
  return at < 0 ? null : text.slice(0, at).split('\n').length
}

const confusable: { [character: string]: string } = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u2010': '-',
  '\u2011': '-',
  '\u2013': '-',
  '\u2014': '-',
  '\u2212': '-',
  '\u00a0': ' ',
  '\u2007': ' ',
  '\u202f': ' ',
  '\u200b': '',
  '\u2026': '...',
}
const confusablePattern = new RegExp(`[${Object.keys(confusable).join('')}]`, 'g')

function foldConfusables(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(confusablePattern, character => confusable[character] ?? character)
}

function confusables(lines: readonly string[], folded: string): string {
  const first = folded.split('\n').find(line => line.trim() !== '') ?? ''
  const found = lines.flatMap((line, index) => {
    const odd = [...new Set(line.match(confusablePattern) ?? [])].map(
      character => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )
    return odd.length > 0 && foldConfusables(line).includes(first.trim()) ? [`line ${index + 1} (${odd.join(', ')})`] : []
  })
  const named = found.slice(0, confusableLinesMax).join('; ')
  return `The file has other characters that look the same${named === '' ? '' : `: ${named}`}.`
}

/** Found by the longest word of the first line that has one; among several lines the one most like it. */
function nearestLine(lines: readonly string[], sought: string): { number: number; line: string } | null {
  const first = sought.split('\n').find(line => /\w{3,}/.test(line)) ?? ''
  const words = [...(first.match(/[\w$]{3,}/g) ?? [])].sort((left, right) => right.length - left.length)
  for (const word of words) {
    const candidates = lines.flatMap((line, index) =>
      line.includes(word) ? [{ number: index + 1, line, shared: sharedWords(line, words) }] : [],
    )
    candidates.sort((left, right) => right.shared - left.shared || left.number - right.number)
    if (candidates[0]) return candidates[0]
  }
  return null
}

function sharedWords(line: string, words: readonly string[]): number {
  return words.filter(word => line.includes(word)).length
}
