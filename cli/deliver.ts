import { createHmac, randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { causeWords } from './cause-words.ts'
import { escapeShort, escapeText, toSafeJson } from './escape.ts'
import { exitCodes, UsageError } from './exit.ts'
import { headerValue } from './header-value.ts'
import { cliLimits } from './limits.ts'
import { readNamed } from './read-named.ts'

type Options = { url: string; event: string; delivery?: string; json?: boolean }

export function define(command: Command, environment: Environment): void {
  command
    .argument('<payload>', 'a file with the body of a webhook, as GitHub sent it; its bytes are sent as they are')
    .requiredOption('--url <url>', 'where the server listens, such as http://127.0.0.1:3000/api/github/webhooks')
    .requiredOption('--event <name>', 'what GitHub calls it in X-GitHub-Event, such as issue_comment')
    .option('--delivery <id>', 'X-GitHub-Delivery; the same one again is a redelivery. Default: a new one')
    .option('--json', 'print one object')
    .addHelpText(
      'after',
      '\nSigned with WEBHOOK_SECRET. Exit: 0 when it was taken (2xx), 1 when it was not, 2 when it could not be sent as asked.',
    )
  command.action((file: string, options: Options) => deliver(file, options, environment))
}

/** Signs a recorded webhook and sends it to a running server, as GitHub would. */
async function deliver(file: string, options: Options, { WEBHOOK_SECRET: secret }: Environment): Promise<void> {
  if (!secret) throw new UsageError('webhook-secret-unset', 'WEBHOOK_SECRET is not set')
  if (!/^https?:\/\//i.test(options.url) || !URL.canParse(options.url))
    throw new UsageError('option-value', `--url is no address: ${escapeText(options.url)}`)
  const body = readNamed(file)
  const event = headerValue('--event', options.event)
  const id = headerValue('--delivery', options.delivery ?? randomUUID())
  const answer = await send(options.url, body, {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  })
  const { status, text } = answer
  process.stdout.write(
    options.json
      ? `${toSafeJson({ delivery: id, status, answer: text })}\n`
      : `${status} ${escapeShort(text, 300)}  (delivery ${escapeText(id)})\n`,
  )
  process.exitCode = status >= 200 && status < 300 ? exitCodes.done : exitCodes.failed
}

async function send(url: string, body: Buffer, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(cliLimits.deliverMs),
    })
    return { status: response.status, text: (await response.text()).trim() }
  } catch (error) {
    throw new UsageError('server-unreachable', `${escapeText(url)} can not be reached: ${escapeText(causeWords(error))}`, [
      'is it running there? grokbot serve, or grokbot app',
    ])
  }
}
