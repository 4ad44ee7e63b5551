import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSession } from '../../agent/index.ts'
import type { NewEvent } from '../../domain/index.ts'
import { type ModelScript, type Simulator, startSimulator } from '../../simulator/index.ts'
import { give, makePlace, open } from '../sandbox/open.ts'
import { makePorts, makeStart } from './harness.ts'

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(() => simulator.close())

type Settled = Extract<NewEvent, { type: 'tool.settled' }>['payload']

/** Runs calls, one a turn, over the kernel sandbox; the results in order. */
async function play(
  calls: { name: string; arguments: { [name: string]: unknown } }[],
  prepare: (workspace: string) => void = () => {},
): Promise<Settled[]> {
  const place = makePlace()
  prepare(place.workspace)
  const { sandbox } = await open({ files: true, poolSize: 1 }, place)
  simulator.model.script([...calls.map(call => ({ toolCalls: [call] })), { text: 'Done.' }] satisfies ModelScript)
  const events: NewEvent[] = []
  const snapshot = async () => ({ kind: 'taken' as const, tree: '0'.repeat(40), live: false })
  const ports = {
    ...makePorts({ sandbox: sandbox as never, model: simulator.model, ports: { snapshot, restore: async () => {} } }, events, []),
    sandbox,
  }
  const result = await runSession(makeStart(), ports)
  expect(result).toMatchObject({ kind: 'ended', reason: 'answer' })
  simulator.model.assertNoRefusedRequests()
  return events.flatMap(event => (event.type === 'tool.settled' ? [event.payload] : []))
}

const run = (command: string) => ({ name: 'run_terminal_command', arguments: { command, description: 'x' } })

describe('a session over the kernel sandbox', () => {
  it('edits with the file host what its commands then see, and the other way round', async () => {
    const settled = await play([
      { name: 'write', arguments: { file_path: 'src/a.txt', content: 'one\ntwo\n' } },
      run('cat src/a.txt && printf "three\\r\\n" > src/b.txt && ls /workspace/src'),
      { name: 'search_replace', arguments: { file_path: '/workspace/src/b.txt', old_string: 'three', new_string: 'THREE' } },
      { name: 'grep', arguments: { pattern: 'THREE|two' } },
      { name: 'list_dir', arguments: { target_directory: '.' } },
      { name: 'read_file', arguments: { target_file: 'src/b.txt' } },
    ])
    expect(settled.map(row => [row.name, row.status, row.sandbox?.state ?? null])).toEqual([
      ['write', 'ok', null],
      ['run_terminal_command', 'ok', 'enforced'],
      ['search_replace', 'ok', null],
      ['grep', 'ok', null],
      ['list_dir', 'ok', null],
      ['read_file', 'ok', null],
    ])
    expect(settled[1]?.result).toMatch(/^exit: 0\n<data-\w+ source="command output">\none\ntwo\na\.txt\nb\.txt\n</)
    expect(settled[3]?.result).toMatch(/Found 2 matching lines\n\.\/src\/a\.txt\n2:two\n\n\.\/src\/b\.txt\n1:THREE\n/)
    expect(settled[4]?.result).toMatch(/^- \.\/\n<data-\w+ [^>]*>\n {2}- src\/\n {4}- a\.txt\n {4}- b\.txt\n/)
    expect(settled[5]?.result).toMatch(/^\[line ends are CRLF[^\]]*\]\n<data-\w+ [^>]*>\n1→THREE\n2→\n/)
  })

  it('keeps a file tool inside: links, absolute paths and the process table lead nowhere', async () => {
    const paths = ['/etc/shadow', 'out/hostname', 'up/secret.txt', '/proc/1/environ', '/root/.ssh/id_rsa', '../../secret.txt']
    const settled = await play(
      [
        ...paths.map(target_file => ({ name: 'read_file', arguments: { target_file } })),
        { name: 'write', arguments: { file_path: 'up/planted.txt', content: 'x' } },
        { name: 'write', arguments: { file_path: '/usr/planted.txt', content: 'x' } },
      ],
      workspace => {
        writeFileSync(join(workspace, '..', 'secret.txt'), 'a canary')
        symlinkSync(join(workspace, '..'), join(workspace, 'up'))
        symlinkSync('/root', join(workspace, 'out'))
        give(workspace)
      },
    )
    expect(settled.map(row => row.status)).toEqual(Array.from({ length: 8 }, () => 'error'))
    expect(settled.map(row => row.result).join('\n')).not.toMatch(/canary|SSH|sk-test/)
  })

  it('says why a command ended: time, memory, and nothing left behind', async () => {
    const settled = await play([
      { name: 'run_terminal_command', arguments: { command: 'sleep 30', timeout: 300, description: 'x' } },
      run('(setsid sleep 300 >/dev/null 2>&1; true) & disown; echo left; wait'),
      run('ps -eo comm= | sort -u | tr "\\n" " "'),
    ])
    expect(settled[0]).toMatchObject({
      status: 'error',
      exitCode: null,
      result: expect.stringMatching(/^exit: killed \(timeout\) \[killed after 300 ms/),
    })
    expect(settled[2]?.result).not.toMatch(/sleep/)
  })
})
