import { createHash } from 'node:crypto'

/** Puts a text into a frame that names its source: `quote('file src/a.ts', text)`. */
export type Quote = (source: string, text: string) => string

export type Frames = {
  /** The names of the two frames, as the system prompt explains them. */
  dataTag: string
  instructionsTag: string
  /** Foreign text: something to work on, never an order. */
  data: Quote
  /** The repository's own instructions from its base branch. */
  instructions: Quote
}

/**
 * The frames are the same for the whole session, so that prompts stay equal byte for byte, and can not be closed or opened
 * from inside: whatever looks like one in the text is escaped, so knowing the name is worth nothing.
 */
export function openFrames(taskId: string): Frames {
  const id = createHash('sha256').update('grokbot frame v1\n').update(taskId).digest('hex').slice(0, 12)
  const framelike = new RegExp(`<(?=\\s*/?\\s*(?:data|instructions)-${id})`, 'gi')
  const quote =
    (tag: string): Quote =>
    (source, text) => {
      const name = source.replace(/[^\w ./:@#+-]/g, '_').slice(0, sourceCharsMax)
      const end = text.endsWith('\n') || text === '' ? '' : '\n'
      return `<${tag} source="${name}">\n${text.replace(framelike, '&lt;')}${end}</${tag}>`
    }
  const dataTag = `data-${id}`
  const instructionsTag = `instructions-${id}`
  return { dataTag, instructionsTag, data: quote(dataTag), instructions: quote(instructionsTag) }
}

const sourceCharsMax = 200
