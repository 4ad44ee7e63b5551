export type TokenCounts = { inputTokens: number; cachedTokens: number; outputTokens: number }

export const noTokens: TokenCounts = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 }

export function addTokens(left: TokenCounts, right: TokenCounts): TokenCounts {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  }
}
