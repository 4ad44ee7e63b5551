import { createHmac, timingSafeEqual } from 'node:crypto'

const secondsDigits = 8
const macDigits = 32
const lastSecond = 16 ** secondsDigits - 1
const grammar = new RegExp(`^[0-9a-f]{${secondsDigits + macDigits}}$`)

export type PageLink = {
  /** Where this installation is reached, as `https://grok.example` or with a path. */
  baseUrl: string
  taskId: string
  now: number
  /** How long the link opens the page. */
  keepMs: number
}

/**
 * The address of a task's page: `<baseUrl>/r/<task>?k=<key>`. The key is 40 lower-case hexadecimal digits: 8 with its expiry
 * in whole seconds since 1970, and 32 with the first 16 bytes of HMAC-SHA256 over "grokbot link v1", the task and those 8
 * digits, a line each. Whoever has the link may read the page: it is written only into the task's own repository, and so
 * has exactly that repository's readers.
 */
export function renderLink({ baseUrl, taskId, now, keepMs }: PageLink, key: Uint8Array): string {
  const expiry = Math.min(Math.floor((now + keepMs) / 1000), lastSecond)
  const digits = expiry.toString(16).padStart(secondsDigits, '0')
  return `${baseUrl.replace(/\/+$/, '')}/r/${taskId}?k=${digits}${macOf(key, taskId, digits).toString('hex')}`
}

/** Until when `k` opens the page of this task, in UTC milliseconds. Null: it is no key of ours for it, or not any more. */
export function readLink({ taskId, k, now }: { taskId: string; k: string; now: number }, key: Uint8Array): number | null {
  if (!grammar.test(k)) return null
  const digits = k.slice(0, secondsDigits)
  if (!timingSafeEqual(macOf(key, taskId, digits), Buffer.from(k.slice(secondsDigits), 'hex'))) return null
  const until = Number.parseInt(digits, 16) * 1000
  return now < until ? until : null
}

function macOf(key: Uint8Array, taskId: string, digits: string): Buffer {
  const mac = createHmac('sha256', key).update(`grokbot link v1\n${taskId}\n${digits}`).digest()
  return mac.subarray(0, macDigits / 2)
}
