import { withheldWords, withoutSecrets } from '../telemetry/index.ts'
import { codeMark, maskCode } from './certain-code.ts'
import { effectsLimits } from './limits.ts'
import {
  address,
  closing,
  closingInCode,
  footnote,
  html,
  image,
  inlineLink,
  isLive,
  type Links,
  linkDefinition,
  mention,
  slashCommand,
} from './live-text.ts'
import { stripMarkers } from './marker.ts'

/**
 * Every text of a model or a stranger passes here before it stands in something of ours: mentions, issue references behind
 * closing keywords, other bots' commands, images and hidden HTML become inert, visibly. Code is kept as it is where there is
 * no doubt that it is code; the result is read once more, and where anything is left or in doubt, all of it is broken up.
 */
export function makeInert(text: string, links: Links = 'kept'): string {
  const clean = cleanText(text)
  const inert = inertOutsideCode(clean, links)
  const read = inert === null ? null : maskCode(inert)
  return inert === null || read === null || isLive(read.prose, links) || holdsSecret(inert) ? breakUp(clean) : inert
}

/**
 * The same for a commit message or a title, where more words are orders: to CI, and about who signed or wrote what. Neither
 * is Markdown, and a title becomes a message when its pull request is squashed: a keyword closes also where it looks like code.
 */
export function makeInertForCommit(text: string): string {
  const inert = withoutOrders(cleanText(text))
  return holdsSecret(inert) ? withheldWords : inert
}

/** Git takes no NUL in a message, and what turns the direction of text shows another one than is there. */
const noText = /[\u202a-\u202e\u2066-\u2069]|[^\P{Cc}\t\n]/gu

function withoutOrders(text: string): string {
  return text
    .replace(noText, ' ')
    .replace(html, '&lt;')
    .replace(image, showImage)
    .split('\n')
    .map(line => line.replace(mention, name => (line.includes('`') ? apart(plainName(name)) : `\`${plainName(name)}\``)))
    .join('\n')
    .replace(closingInCode, found => breakReferences(found))
    .replace(slashCommand, (_, indent: string, command: string) => `${indent}\`${command}\``)
    .replace(/\[((?:skip|no)[ -](?:ci|actions)|(?:ci|actions)[ -]skip)\]/gi, '($1)')
    .replace(/\*\*\*NO_CI\*\*\*/gi, 'NO_CI')
    .replace(
      /^([ \t]*)((?:signed-off|co-authored|reviewed|acked|tested|reported|approved)-by|skip-checks|change-id|closes|fixes)[ \t]*:/gim,
      '$1- $2:',
    )
}

/**
 * Credentials are looked for last, in the text as it will stand: whatever is taken out after that brings together what stood
 * on both sides of it. What is inert afterwards is looked through once more, since that takes out brackets and asterisks.
 */
function cleanText(text: string): string {
  const shown = stripMarkers(text.replaceAll(codeMark, '').replace(/\r\n?/g, '\n'))
  const seen = shown.replace(unseen, '')
  return cutLong(withoutSecrets(seen !== shown && holdsSecret(seen) ? seen : shown))
}

/** Characters that nobody sees: a credential with one in it reads as without. They stay in all other texts. */
const unseen = /\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|[^\P{Cc}\t\n]/gu

function holdsSecret(text: string): boolean {
  return withoutSecrets(text) !== text
}

/** After the search for credentials, so that none is cut in two; before every pattern. */
function cutLong(text: string): string {
  const { filteredCharactersMax: max } = effectsLimits
  return text.length <= max ? text : `${text.slice(0, max)}\n\n${cutNote(max)}`
}

/** Null when it is in doubt what is code. What one step puts in as code, the next leaves alone. */
function inertOutsideCode(text: string, links: Links): string | null {
  const steps = [links === 'kept' ? showCalling : showLinks, withoutReferences, withoutCalls]
  return steps.reduce<string | null>((inert, step) => {
    const masked = inert === null ? null : maskCode(inert)
    return masked?.restore(step(masked.prose)) ?? null
  }, text)
}

/** A link says where it leads instead of what it calls itself; one by reference loses its definition. */
function showLinks(text: string): string {
  return text
    .replace(inlineLink, '$<words> ($<to>)')
    .replace(linkDefinition, ']\\:')
    .replace(address, found => `\`${found}\``)
}

/** The same for what would call somebody if it were no link: whether it is one, its surroundings decide. */
function showCalling(text: string): string {
  return text
    .replace(inlineLink, (link, words: string, _, to: string) => (calls(link.slice(words.length + 2)) ? `${words} (${to})` : link))
    .replace(address, found => (calls(found) ? `\`${found}\`` : found))
}

const calls = (text: string) => text.search(mention) >= 0

function withoutReferences(text: string): string {
  return text
    .replace(html, '&lt;')
    .replace(image, showImage)
    .replace(footnote, '[ ^')
    .replace(closing, (_, word: string, gap: string, reference: string) => `${word}${gap}\`${reference}\``)
}

function withoutCalls(text: string): string {
  return text
    .replace(mention, name => `\`${plainName(name)}\``)
    .replace(slashCommand, (_, indent: string, command: string) => `${indent}\`${command}\``)
}

const showImage = (_: string, alt: string) => `[image removed${alt ? `: ${alt}` : ''}]`
const plainName = (name: string) => name.replace(/^&[^;]+;/, '@')
const apart = (name: string) => `${name.slice(0, 1)} ${name.slice(1)}`

/** Whatever is code and whatever is not: a blank stands where each meaning begins. It shows, also in code. */
function breakUp(text: string): string {
  return breakReferences(text.replace(/&(?=#|\w+;)/g, '&amp;').replace(html, '&lt;'))
    .replace(/!(?=\[)/g, '! ')
    .replace(footnote, '[ ^')
    .replace(/\](?=[(:])/g, '] ')
    .replace(/(www|mailto|xmpp)(?=[.:])/gi, '$1 ')
    .replace(/@(?=\S)/g, '@ ')
    .replace(/^([^\S\n\r\u2028\u2029]*)\/(?=[A-Za-z])/gm, '$1/ ')
}

function breakReferences(text: string): string {
  return text
    .replace(/#(?=[\d*_~\\])/g, '# ')
    .replace(/\bGH-(?=[\d*_~\\])/gi, found => `${found} `)
    .replace(/:(?=[*_~\\]*\/[*_~\\]*\/)/g, ': ')
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
