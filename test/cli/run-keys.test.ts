import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grokbot, openScene, runArguments, type Scene } from './scene.ts'

describe('a run whose receipts could not be signed is not begun', () => {
  let opened: Scene
  beforeAll(async () => {
    opened = await openScene()
  })
  afterAll(() => opened.remove())

  const keys: [name: string, env: Record<string, string>, operator: string | null, says: RegExp][] = [
    [
      'a key in the environment that is none',
      { GROKBOT_SIGNING_KEY: 'bad' },
      null,
      /^grokbot: receipts can not be signed: .* PEM \[signing-key-invalid\]\n {2}make a key: /,
    ],
    [
      'a signing command whose public key is not there',
      {},
      JSON.stringify({ version: 1, signing: { command: ['true'], publicKey: '/nowhere.pem' } }),
      /^grokbot: receipts can not be signed: signing\.publicKey names \/nowhere\.pem/,
    ],
  ]
  it.each(keys)('%s', async (_, env, operator, says) => {
    const given = operator === null ? {} : { GROKBOT_CONFIG: opened.write('operator.yml', operator) }
    const ran = await grokbot(runArguments(opened), { env: { ...env, ...given } })
    expect([ran.exitCode, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toMatch(says)
    // No ledger was opened, so no task was accepted that nobody would end.
    expect(existsSync(path.join(opened.data, 'ledger.db'))).toBe(false)
  })
})
