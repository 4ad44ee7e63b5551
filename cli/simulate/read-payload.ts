import { statSync } from 'node:fs'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'
import { readNamed } from '../read-named.ts'

/** GitHub sends no larger payload. */
const payloadBytesMax = 26_214_400

export function readPayload(file: string, repo: string): object {
  if (!statSync(repo, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError('folder-missing', `--repo: there is no folder ${escapeText(repo)}`)
  const parsed = parseJson(
    readNamed(file, { bytesMax: payloadBytesMax })
      .toString('utf8')
      .replace(/^\uFEFF/, ''),
    file,
  )
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  throw new UsageError('payload-invalid', `${escapeText(file)} is not a JSON object`)
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError('payload-invalid', `${escapeText(file)} is not JSON: ${escapeText((error as SyntaxError).message)}`)
  }
}
