/** `shown`: as code with their whole address, for the words of a session that a stranger may have steered. */
export type Links = 'kept' | 'shown'

/**
 * What GitHub, or a bot that reads along, gives a meaning in prose. Wider than what they are known to take: in doubt it is live.
 * A model wrote what they read: each takes time in proportion to its text, whatever that is. A test tries every one of this file.
 */
export const mention = /(?<![A-Za-z0-9])(?:@|&#0*64;|&#x0*40;|&commat;)[A-Za-z0-9][A-Za-z0-9-]*(?:\/[A-Za-z0-9._-]+)?/gi
export const slashCommand = /^([^\S\n\r\u2028\u2029]*)(\/[A-Za-z][\w-]*)/gm
/** Also the address of an e-mail in angles, which may begin with any sign. */
export const html = /<(?=[A-Za-z/!?]|[^\s<>@]*@)/g
export const image = /!\[([^[\]]{0,1000})\](\([^()\n]{0,2000}\)|\[[^[\]\n]{0,1000}\])?/g
export const closing = closingAcross(String.raw`\s\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2060:*_~>("'\\-`)
/** For what is no Markdown, where a keyword's reference may stand in what looks like code. */
export const closingInCode = closingAcross(String.raw`\s\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2060:*_~>("'\\\x60-`)

/**
 * What is taken by a look ahead is taken whole and never given back, and no link is looked for across the beginning of another:
 * else one that does not end is tried in every division, up to the end of every other. What that passes over is live.
 */
export const inlineLink =
  /(?<!!)\[(?<words>[^[\]\n]{0,1000})\]\((?=(?<blanks>\s*))\k<blanks><?(?=(?<to>(?:(?!\]\()[^)\s>]){0,2000}))\k<to>>?(?:(?!\]\()[^)\n]){0,1000}\)/g
/** GitHub shows a footnote's text at the foot of the page, outside of whatever quote it was written in. */
export const footnote = /\[\^/g
/** Whatever stands before it: quotes, lists and boxes to tick, as many as one likes, are all no part of the line it begins. */
export const linkDefinition = /\]:/g
export const address =
  /(?:(?:https?|ftp):\/\/|www\.)[^\s<>`]*[^\s<>`.,;:!?)\]'"*_]|(?<![A-Za-z0-9._+-])(?:mailto:|xmpp:)?[A-Za-z0-9._+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]*[A-Za-z0-9]/gi

/** One entity more than these may stand for any character, and so for any of the rest. */
const entity = /&(?:#|(?!(?:lt|gt|amp|quot|apos|nbsp);)[a-z][a-z0-9]*;)/i
const addressStart = /(?:https?|ftp):\/\/|www\.|[A-Za-z0-9._+-]@[A-Za-z0-9]|mailto:|xmpp:/i

/** Whether anything in this prose, its code masked, would be more than text. */
export function isLive(prose: string, links: Links): boolean {
  const plain = prose.replace(/[*_~\\]/g, '')
  const always = [html, entity, /!\[/, slashCommand, footnote]
  const linked = [/\]\(/, linkDefinition, addressStart]
  return (
    always.some(pattern => holds(pattern, prose)) ||
    holds(mention, prose) ||
    holds(mention, plain) ||
    holds(closing, prose) ||
    holds(closing, plain) ||
    (links === 'shown' && linked.some(pattern => holds(pattern, prose)))
  )
}

function holds(pattern: RegExp, text: string): boolean {
  return text.search(pattern) >= 0
}

/**
 * A keyword, what may stand between, and a reference: by number, by address, or a link that may be one of both. What stands
 * between is taken whole, however long it is.
 */
function closingAcross(gap: string): RegExp {
  // What no eye sees need be no sign to a parser either.
  const invisible = String.raw`[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2061-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]|\udb40[\udc00-\udfff]`
  return new RegExp(
    [
      String.raw`\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=((?:[${gap}]|${invisible}|&(?:nbsp|quot|apos|amp|lt|gt);)+))\2`,
      String.raw`((?:[\w.-]{1,100}(?:\/[\w.-]{1,100})?)?#\d+|GH-\d+|`,
      String.raw`(?:https?:\/\/|www\.)[^\s<>\x60()]{1,1000}\/(?:issues|pull|discussions)\/\d+[^\s<>\x60()]{0,500}|`,
      String.raw`\[[^[\]\n\x60]{0,1000}\](?:(?<=#\d[^[\]\n\x60]{0,20}\])|\((?=[^)]{0,2000}\/\d)[^()\n\x60]{0,2000}\)|\[[^[\]\n\x60]{0,1000}\]))`,
    ].join(''),
    'gi',
  )
}
