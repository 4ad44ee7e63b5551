import { describe, expect, it, onTestFinished } from 'vitest'
import { costOf, openBudget } from '../../agent/budget.ts'
import type { ModelSettings, SessionResult } from '../../agent/index.ts'
import type { Limits } from '../../domain/index.ts'
import type { FakeModel, ModelScript } from '../../simulator/index.ts'
import { openFolderSandbox } from './folder-sandbox.ts'
import { runIn } from './harness.ts'
import { useModel } from './shared-model.ts'

let model: FakeModel
useModel(fresh => {
  model = fresh
})

const price = { input: 3_000_000, cachedInput: 750_000, output: 15_000_000 }
const settings: ModelSettings = { name: 'grok-4', outputTokensMax: 8_192, outputTokensField: 'max_tokens', temperature: null, price }
const limits: Limits = { turnsMax: 1_000, wallMs: 60_000, tokensMax: 1_000_000, costMicroUsdMax: null }

/** A model that goes on for ever, each time with other words. */
function endless(usage?: { promptTokens: number; completionTokens: number }): ModelScript {
  return Array.from({ length: 200 }, (_, n) => ({
    toolCalls: [{ name: 'run_terminal_command', arguments: { command: `echo ${n}` } }],
    ...(usage ? { usage } : {}),
  }))
}

async function run(
  script: ModelScript,
  own: Partial<Limits>,
  more: Partial<ModelSettings> = {},
): Promise<Extract<SessionResult, { kind: 'ended' }>> {
  const sandbox = await openFolderSandbox()
  onTestFinished(() => sandbox.remove())
  model.script(script)
  const { result } = await runIn({ sandbox, model, start: { limits: { ...limits, ...own }, model: { ...settings, ...more } } })
  if (result.kind !== 'ended') throw new Error(`it was ${result.kind}`)
  return result
}

describe('a budget', () => {
  const caps: [title: string, script: () => ModelScript, own: Partial<Limits>, by: string][] = [
    [
      'tokens, of a server that counts 50,000 a turn',
      () => endless({ promptTokens: 49_000, completionTokens: 1_000 }),
      { tokensMax: 270_000 },
      'tokens',
    ],
    [
      'tokens, of a server whose answers are longer than it was told',
      () => endless({ promptTokens: 2_000, completionTokens: 30_000 }),
      { tokensMax: 200_000 },
      'tokens',
    ],
    [
      'money, of a server that counts 50,000 a turn',
      () => endless({ promptTokens: 49_000, completionTokens: 1_000 }),
      { costMicroUsdMax: 500_000 + 300_000 },
      'cost',
    ],
    [
      'tokens, of a server that counts nothing',
      () => endless().map(turn => ({ ...turn, fault: { kind: 'no-usage' as const } })),
      { tokensMax: 40_000 },
      'tokens',
    ],
    [
      'money, of a server that counts nothing',
      () => endless().map(turn => ({ ...turn, fault: { kind: 'no-usage' as const } })),
      { costMicroUsdMax: 200_000 },
      'cost',
    ],
  ]
  it.each(caps)('is never passed: %s', async (_title, script, own, by) => {
    const result = await run(script(), own)
    expect(result.reason).toBe(by)
    expect(result.turns).toBeGreaterThan(0)
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThanOrEqual(own.tokensMax ?? limits.tokensMax)
    if (own.costMicroUsdMax) expect(result.usage.costMicroUsd).toBeLessThanOrEqual(own.costMicroUsdMax)
  })

  it('counts failed tries that may have cost something, and stops trying when they fill it', async () => {
    const result = await run([{ text: 'never', fault: { kind: 'cut', afterChunks: 2, times: 99 } }], { tokensMax: 40_000 })
    expect(result).toMatchObject({
      reason: 'model-error',
      text: expect.stringMatching(/^the answer broke off .*no budget left for another try/),
    })
    expect(model.requests.length).toBeLessThan(6)
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThanOrEqual(40_000)
    expect(result.usage.reported).toBe(false)
  })

  it('adds the cost of failed tries to the answer that followed', async () => {
    const result = await run(
      [{ text: 'ok', usage: { promptTokens: 1_000, completionTokens: 10 }, fault: { kind: 'cut', afterChunks: 2 } }],
      {},
    )
    expect(result.usage.outputTokens).toBe(10 + 8_192)
    expect(result.usage.reported).toBe(false)
  })

  it('asks nothing at all when there is no room for the first request', async () => {
    const result = await run(endless(), { tokensMax: 5_000 })
    expect(result).toMatchObject({ reason: 'tokens', turns: 0, usage: { inputTokens: 0, outputTokens: 0 } })
    expect(model.requests).toHaveLength(0)
  })

  it('with a money cap and no price is a config error that names the key, before anything is asked', async () => {
    const sandbox = await openFolderSandbox()
    onTestFinished(() => sandbox.remove())
    const { result, events } = await runIn({
      sandbox,
      model,
      start: { limits: { ...limits, costMicroUsdMax: 1 }, model: { ...settings, price: null } },
    })
    expect(result).toEqual({
      kind: 'config-error',
      key: 'models.grok-4.price',
      message: 'a cost limit is set, but the price of grok-4 is not known: set models.grok-4.price, or take the cost limit away',
    })
    expect(events).toEqual([])
    expect(model.requests).toHaveLength(0)
  })

  it('sends the output limit it reserves by', async () => {
    await run([{ text: 'ok' }], {}, { outputTokensMax: 777, outputTokensField: 'max_completion_tokens' })
    expect(model.requests[0]?.body).toMatchObject({ max_completion_tokens: 777 })
  })

  it('reserves what a server counted before, and more for what it has not seen', () => {
    const budget = openBudget(limits, settings)
    expect(budget.reserve(8_000)).toMatchObject({ counts: { inputTokens: 4_000, outputTokens: 8_192 } })
    budget.learn({ inputTokens: 9_000, cachedTokens: 0, outputTokens: 100, costMicroUsd: 0, reported: true }, 8_000)
    expect(budget.reserve(10_000)).toMatchObject({ counts: { inputTokens: 9_000 + 1_000, outputTokens: 8_192 } })
    budget.learn({ inputTokens: 1, cachedTokens: 0, outputTokens: 9_999, costMicroUsd: 0, reported: false }, 8_000)
    expect(budget.reserve(8_000)).toMatchObject({ counts: { inputTokens: 9_000, outputTokens: 8_192 } })
  })

  it('rounds money up and charges cached input its own price', () => {
    expect(costOf({ inputTokens: 1_000, cachedTokens: 400, outputTokens: 7 }, price)).toBe(600 * 3 + 300 + 105)
    expect(costOf({ inputTokens: 1, cachedTokens: 1, outputTokens: 0 }, price)).toBe(1)
  })
})
