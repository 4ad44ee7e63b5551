import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryPath } from '../entries.ts'

/**
 * The instructions a model is shown, one Markdown file each. A placeholder is `${{ name }}`; a value that is missing and a
 * value that no placeholder asks for are both errors, before any model is called. Values are put in as they are and are
 * not searched for placeholders again.
 */
export type Prompts = {
  render(name: string, values: Readonly<Record<string, string>>): string
  /** The names a template asks for, each once, in order. */
  placeholders(name: string): readonly string[]
  /** sha256 of every template rendered so far, by name: part of what makes a prompt rebuildable. */
  hashes(): Readonly<Record<string, string>>
}

export class PromptFault extends Error {
  override name = 'PromptFault'
}

const placeholder = /\$\{\{\s*([\w.-]+)\s*\}\}/g

export function openPrompts(folder: string = entryPath('prompts')): Prompts {
  const texts = new Map<string, string>()
  const read = (name: string): string => {
    const known = texts.get(name)
    if (known !== undefined) return known
    const text = readTemplate(folder, name)
    texts.set(name, text)
    return text
  }
  return {
    render: (name, values) => render(name, read(name), values),
    placeholders: name => names(read(name)),
    hashes() {
      const sorted = [...texts].sort(([left], [right]) => (left < right ? -1 : 1))
      return Object.fromEntries(sorted.map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]))
    },
  }
}

function readTemplate(folder: string, name: string): string {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(name)) throw new PromptFault(`"${name}" is no name of a prompt`)
  let text: string
  try {
    text = readFileSync(join(folder, `${name}.md`), 'utf8')
  } catch (cause) {
    throw new PromptFault(`there is no prompt "${name}" in ${folder}`, { cause })
  }
  // What is left after the well-formed ones is a typing mistake, which would otherwise be shown to the model.
  if (/\$\{\{/.test(text.replace(placeholder, ''))) throw new PromptFault(`the prompt "${name}" has a broken placeholder`)
  return text.trimEnd()
}

function render(name: string, text: string, values: Readonly<Record<string, string>>): string {
  const wanted = names(text)
  const missing = wanted.filter(key => !Object.hasOwn(values, key))
  if (missing.length > 0) throw new PromptFault(`the prompt "${name}" needs a value for ${missing.join(', ')}`)
  const unknown = Object.keys(values).filter(key => !wanted.includes(key))
  if (unknown.length > 0) throw new PromptFault(`the prompt "${name}" has no placeholder ${unknown.join(', ')}`)
  return text.replace(placeholder, (_whole, key: string) => values[key] as string)
}

function names(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map(match => match[1] as string))]
}
