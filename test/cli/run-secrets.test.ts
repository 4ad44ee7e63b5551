import { expect, test } from 'vitest'
import { fixingScript, grokbot, openScene, runArguments } from './scene.ts'

const key = 'sk-of-the-operator-0123456789abcdefghijklmnop'

/** A model that was told its own key, or guessed where it stands, and writes it wherever it can. */
const tellingScript = [
  { text: `The key is ${key}`, toolCalls: [{ name: 'run_terminal_command', arguments: { command: `echo ${key}`, description: key } }] },
  { toolCalls: [{ name: 'write', arguments: { file_path: `${key}.txt`, content: key } }] },
  ...fixingScript.slice(1, 2),
  { text: `Say fixed\n\nWhy: ${key}` },
]

test.each([['-vv'], ['--plain', '-vv'], ['--stream-json'], ['--json', '-vv']])(
  'the key of the model stands in nothing a run prints: %s',
  async (...flags) => {
    const scene = await openScene({}, tellingScript)
    const ran = await grokbot(runArguments(scene, ...flags), { env: { OPENAI_API_KEY: key, CI: 'true' } })
    scene.remove()
    expect(ran.stdout + ran.stderr).toContain('redacted')
    expect([ran.stdout.includes(key), ran.stderr.includes(key)], ran.stderr).toEqual([false, false])
  },
  120_000,
)
