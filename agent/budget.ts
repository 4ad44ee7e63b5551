import type { Limits, Usage } from '../domain/index.ts'
import { addTokens, noTokens, type TokenCounts } from './model/token-counts.ts'
import type { ModelPrice, ModelSettings } from './session.ts'

/**
 * Tokens and money of one session. Room is reserved before each request and never more than there is; what is not known is
 * held to be dear. A request costs at most its reservation as long as the server keeps the output limit it is sent.
 */
export type Budget = {
  /** What the next request of so many bytes may cost at most, if there is room for it. */
  reserve(requestBytes: number): Reservation | { kind: 'exhausted'; by: 'tokens' | 'cost' }
  /** Whether one more try fits beside what the failed ones are held to have cost. */
  fitsAgain(reservation: Reservation, held: TokenCounts): boolean
  /** Books what a request cost, or what a lost one is held to have cost. */
  book(counts: TokenCounts, reported: boolean): Usage
  /** What a server counted for a request of so many bytes: the next reservation starts from there. */
  learn(usage: Usage, requestBytes: number): void
  /** Books a request whose end nobody saw: all it had reserved. */
  bookLost(reservedTokens: number): void
  used(): Usage
}

type Reservation = { kind: 'reserved'; counts: TokenCounts; tokens: number }

/** For bytes no server has counted yet: twice the usual estimate. */
const reserveBytesPerToken = 2

export function openBudget(limits: Pick<Limits, 'tokensMax' | 'costMicroUsdMax'>, model: ModelSettings): Budget {
  let counts = noTokens
  let cost = model.price ? 0 : null
  let reported = true
  /** The last request a server counted: its size in bytes and in tokens. */
  let seen = { bytes: 0, tokens: 0 }
  let largestOutput = model.outputTokensMax
  const fits = (more: TokenCounts) => {
    const tokens = total(counts) + total(more)
    if (tokens > limits.tokensMax) return 'tokens'
    if (limits.costMicroUsdMax !== null && model.price && (cost ?? 0) + costOf(more, model.price) > limits.costMicroUsdMax) return 'cost'
    return null
  }
  const budget: Budget = {
    reserve(requestBytes) {
      const inputTokens = seen.tokens + Math.ceil(Math.max(0, requestBytes - seen.bytes) / reserveBytesPerToken)
      const reserved = { inputTokens, cachedTokens: 0, outputTokens: largestOutput }
      const by = fits(reserved)
      return by ? { kind: 'exhausted', by } : { kind: 'reserved', counts: reserved, tokens: total(reserved) }
    },
    fitsAgain: (reservation, held) => fits(addTokens(held, reservation.counts)) === null,
    book(more, wasReported) {
      counts = addTokens(counts, more)
      reported &&= wasReported
      const price = model.price ? costOf(more, model.price) : null
      if (price !== null) cost = (cost ?? 0) + price
      return { ...more, costMicroUsd: price, reported: wasReported }
    },
    learn(usage, requestBytes) {
      if (!usage.reported) return
      seen = { bytes: requestBytes, tokens: usage.inputTokens }
      // A server that does not keep the limit is believed to do so again.
      largestOutput = Math.max(largestOutput, usage.outputTokens)
    },
    bookLost(reservedTokens) {
      const outputTokens = Math.min(reservedTokens, largestOutput)
      budget.book({ inputTokens: reservedTokens - outputTokens, cachedTokens: 0, outputTokens }, false)
    },
    used: () => ({ ...counts, costMicroUsd: cost, reported }),
  }
  return budget
}

function total(counts: TokenCounts): number {
  return counts.inputTokens + counts.outputTokens
}

/** Micro-USD, rounded up. */
export function costOf(counts: TokenCounts, price: ModelPrice): number {
  const fresh = counts.inputTokens - counts.cachedTokens
  return Math.ceil((fresh * price.input + counts.cachedTokens * price.cachedInput + counts.outputTokens * price.output) / 1_000_000)
}

/** Null = the budget can be kept. Without a price a money cap would be a promise nobody can keep. */
export function budgetFault(limits: Pick<Limits, 'costMicroUsdMax'>, model: ModelSettings): { key: string; message: string } | null {
  if (limits.costMicroUsdMax === null || model.price) return null
  const key = `models.${model.name}.price`
  return { key, message: `a cost limit is set, but the price of ${model.name} is not known: set ${key}, or take the cost limit away` }
}
