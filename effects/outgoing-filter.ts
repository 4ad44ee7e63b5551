import { withoutSecrets } from '../telemetry/index.ts'
import { stripMarkers } from './marker.ts'

/**
 * Every text of a model or a stranger passes here before it stands in something of ours: mentions, issue references behind
 * closing keywords, other bots' commands, images and hidden HTML become inert, visibly. Code spans and fences are kept as
 * they are, since GitHub gives nothing in them a meaning. Credentials go wherever they stand.
 */
export function makeInert(text: string, links: Links = 'kept'): string {
  return splitCode(stripMarkers(withoutSecrets(text)))
    .map(part => (part.code ? part.text : inertProse(links === 'kept' ? part.text : showLinks(part.text))))
    .join('')
}

/** `shown`: as code with their whole address, for the words of a session that a stranger may have steered. */
export type Links = 'kept' | 'shown'

/** The same for a commit message, where more words are orders: to CI, and about who signed or wrote what. */
export function makeInertForCommit(text: string): string {
  return makeInert(text)
    .replace(/\[((?:skip|no)[ -](?:ci|actions)|(?:ci|actions)[ -]skip)\]/gi, '($1)')
    .replace(/\*\*\*NO_CI\*\*\*/gi, 'NO_CI')
    .replace(
      /^([ \t]*)((?:signed-off|co-authored|reviewed|acked|tested|reported|approved)-by|skip-checks|change-id|closes|fixes)[ \t]*:/gim,
      '$1- $2:',
    )
}

const mention = /(^|[^\w`/])((?:@|&#0*64;|&#x0*40;|&commat;)[A-Za-z0-9][A-Za-z0-9-]*(?:\/[A-Za-z0-9._-]+)?)/gi
const closing = /\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(:?\s+)((?:[\w.-]+\/[\w.-]+)?#\d+|https?:\/\/\S+\/(?:issues|pull)\/\d+)/gi
const slashCommand = /^([ \t]*)(\/[A-Za-z][\w-]*)/gm
const image = /!\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?/g
const html = /<(?=[A-Za-z/!?])/g

const inlineLink = /(?<!!)\[([^\]\n]*)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)/g
const linkDefinition = /^([ >]{0,8}\[[^\]\n]{1,200}\]):/gm
const address = /(?:https?:\/\/|www\.)[^\s<>`]*[^\s<>`.,;:!?)\]'"*_]/gi

/** A link says where it leads instead of what it calls itself; one by reference loses its definition. */
function showLinks(text: string): string {
  return text
    .replace(inlineLink, '$1 ($2)')
    .replace(linkDefinition, '$1\\:')
    .replace(address, found => `\`${found}\``)
}

function inertProse(text: string): string {
  return text
    .replace(html, '&lt;')
    .replace(image, (_, alt: string) => `[image removed${alt ? `: ${alt}` : ''}]`)
    .replace(closing, (_, word: string, gap: string, reference: string) => `${word}${gap}\`${reference}\``)
    .replace(mention, (_, before: string, name: string) => `${before}\`${name.replace(/^&[^;]+;/, '@')}\``)
    .replace(slashCommand, (_, indent: string, command: string) => `${indent}\`${command}\``)
}

/** Fenced blocks and code spans apart from prose. A fence or span that is never closed counts as prose. */
function splitCode(text: string): { code: boolean; text: string }[] {
  const code = /(^|\n)( {0,3})(`{3,}|~{3,})[^\n]*\n[\s\S]*?\n {0,3}\3[`~]*[ \t]*(?=\n|$)|(?<!`)(`+)(?!`)(?:[^`\n]|(?!\4(?!`))`)+\4(?!`)/g
  const parts: { code: boolean; text: string }[] = []
  let end = 0
  for (const match of text.matchAll(code)) {
    parts.push({ code: false, text: text.slice(end, match.index) }, { code: true, text: match[0] })
    end = match.index + match[0].length
  }
  return [...parts, { code: false, text: text.slice(end) }]
}

const cutNote = (max: number) => `Cut at ${max.toLocaleString('en-US')} characters; the rest is in the run's record.`

/**
 * Joins blocks until the limit; what does not fit is left out whole and said in the last line. Searched for credentials as
 * one text: what is spread over its blocks, as in names of files, is none in any of them.
 */
export function joinBlocks(blocks: readonly string[], charactersMax: number): string {
  return withoutSecrets(fitBlocks(blocks, charactersMax))
}

function fitBlocks(blocks: readonly string[], charactersMax: number): string {
  const note = cutNote(charactersMax)
  const kept: string[] = []
  let length = 0
  for (const block of blocks.filter(block => block !== '')) {
    if (length + block.length + 2 + note.length > charactersMax) return [...kept, note].join('\n\n')
    kept.push(block)
    length += block.length + 2
  }
  return kept.join('\n\n')
}
