import { Command } from 'commander'
import { expect, test, vi } from 'vitest'
import { define, renderProblem } from '../../cli/explain.ts'
import { errorWords } from '../../cli/say-error.ts'

/** What is printed, or what is said of the mistake. */
async function explain(...argv: string[]): Promise<string> {
  const command = new Command('explain').exitOverride()
  define(command)
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await command.parseAsync(argv, { from: 'user' })
    return write.mock.calls.map(([text]) => String(text)).join('')
  } catch (error) {
    return errorWords(error, false).text
  } finally {
    write.mockRestore()
  }
}

test.each(['model-unset', '[model-unset]', 'MODEL-UNSET', ' [Model-Unset] '])('%j is found as it was copied', async given => {
  expect(await explain(given)).toBe(`${renderProblem('model-unset')}\n`)
})

test.each([
  ['model-unst', 'model-unset'],
  ['[file-mising]', 'file-missing'],
  ['webhok-secret-unsett', 'webhook-secret-unset'],
])('of %s the nearest code is named', async (given, nearest) => {
  expect(await explain(given)).toBe(
    `grokbot: there is no code ${given} [unknown-code]\n  the nearest is ${nearest}: grokbot explain ${nearest}`,
  )
})

test.each(['nothing-like-it', 'xy', '[]'])('of %s none is near, and the way to all of them is said', async given => {
  expect(await explain(given)).toBe(`grokbot: there is no code ${given} [unknown-code]\n  see all of them: grokbot explain`)
})
