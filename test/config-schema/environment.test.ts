import { expect, test } from 'vitest'
import { readEnvironment } from '../../config-schema/index.ts'

const levels = 'trace, debug, info, warn, error, fatal, silent'

test.each([
  ['GHE_API_URL', 'github.example.com', 'must be an http or https address, such as https://github.example.com/api/v3'],
  ['OPENAI_BASE_URL', 'localhost:8080/v1', 'must be an http or https address, such as https://api.openai.com/v1'],
  ['GROKBOT_URL', 'ftp://grok.example', 'must be an http or https address, such as https://grok.example'],
  ['GROKBOT_METRICS_TOKEN', 'short', 'must have at least 16 characters, such as those of: openssl rand -hex 16'],
  ['LOG_LEVEL', 'loud', `must be one of ${levels}`],
  ['PORT', 'many', 'must be a whole number from 0 to 65535'],
  ['PORT', '80.5', 'must be a whole number from 0 to 65535'],
  ['PORT', '70000', 'must be a whole number from 0 to 65535'],
])('%s=%s is said in words of ours', (name, value, words) => {
  expect(readEnvironment({ [name]: value })).toEqual({ kind: 'invalid', problems: [`${name}: ${words}`] })
})

test('values that can be used are taken', () => {
  const url = 'http://localhost:8080'
  const source = {
    GHE_API_URL: url,
    OPENAI_BASE_URL: url,
    GROKBOT_URL: url,
    GROKBOT_METRICS_TOKEN: 'x'.repeat(16),
    LOG_LEVEL: 'trace',
  } as const
  expect(readEnvironment({ ...source, PORT: '0', HOST: '' })).toEqual({ kind: 'read', values: { ...source, PORT: 0 } })
  // As other programs have it.
  const loud: Record<string, string> = { LOG_LEVEL: 'INFO' }
  expect(readEnvironment(loud)).toEqual({ kind: 'read', values: { LOG_LEVEL: 'info' } })
})
