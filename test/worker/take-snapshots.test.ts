import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openTaskSandbox, workOptions } from '../../worker/open-task-sandbox.ts'
import { openSnapshotTaker } from '../../worker/take-snapshots.ts'
import { makeScene, readTree, rules, workspaceOf } from '../git/scene.ts'

const tickMs = 40

async function openTaker() {
  const scene = await makeScene()
  const { remove: _, ...workspace } = await workspaceOf(scene)
  const workDir = join(scene.folder, 'trees')
  const runDir = join(scene.folder, 'session')
  mkdirSync(runDir, { mode: 0o711 })
  const limits = { user: scene.user, policy: 'required' as const, masked: [], roots: [], readHost: false, wallMs: 20_000, limits: {} }
  const place = { sandbox: limits, store: scene.store, workspace, workDir, rules }
  const opening = openTaskSandbox(limits, { profile: 'workspace', ...workOptions(workspace, runDir), files: true, poolSize: 1 })
  const written: string[] = []
  const taker = openSnapshotTaker(place, opening, () => written)
  const sandbox = await opening
  onTestFinished(async () => {
    await taker.close()
    await sandbox.close()
  })
  const sh = async (script: string) => expect(await sandbox.run({ argv: ['bash', '-c', script] })).toMatchObject({ exitCode: 0 })
  const take = async () => {
    const taken = await taker.take()
    if (taken.kind !== 'taken') throw new Error(taken.reason)
    return taken.tree
  }
  return { scene, written, workDir, sh, take, files: async () => readTree(scene, await take()) }
}

test('a command that changed no file has the tree before it, and none is made', async () => {
  const { scene, workDir, sh, take } = await openTaker()
  await sleep(tickMs)
  expect(await take()).toBe(scene.baseTree)
  // Without these no tree can be made any more.
  rmSync(workDir, { recursive: true })
  await sh('cat src/add.js; echo x > /tmp/x; git log --oneline')
  expect(await take()).toBe(scene.baseTree)
  await sh('echo more >> src/add.js')
  await expect(take()).rejects.toThrow()
})

test('the first tree is made in the quarantine that was made with the plan, and none is made beside it', async () => {
  const { workDir, sh, take } = await openTaker()
  await sh('echo more >> src/add.js')
  await take()
  const [plan = ''] = readdirSync(workDir).filter(name => name.startsWith('tree-'))
  const out = join(workDir, plan, 'out')
  // One of its own would be taken away behind its tree, and leave the plan's, in which nothing was made.
  await vi.waitFor(() => expect(readdirSync(out)).toHaveLength(1))
  expect(readdirSync(join(out, readdirSync(out)[0] ?? ''))).toContain('tree')
})

test('an edit of the same size with its time put back, and one within the same tick, are in the next tree', async () => {
  const { sh, files } = await openTaker()
  await sleep(tickMs)
  await files()
  await sh('touch -r src/keep.js /tmp/t; sed -i s/1/2/ src/keep.js; touch -r /tmp/t src/keep.js')
  expect((await files())['100644 src/keep.js']).toBe('export const keep = 2\n')
  await sh('sed -i s/2/3/ src/keep.js')
  expect((await files())['100644 src/keep.js']).toBe('export const keep = 3\n')
})

test('a file that a tool wrote where git ignores it is in the tree, and what commands leave there is not', async () => {
  const { written, sh, files } = await openTaker()
  await sh('mkdir node_modules; echo mine > node_modules/own.js; echo theirs > node_modules/other.js')
  written.push('node_modules/own.js')
  expect(Object.keys(await files()).filter(name => name.includes('node_modules'))).toEqual(['100644 node_modules/own.js'])
})

test('thousands of closed folders and a link out of the work tree take no time and no harm', async () => {
  const { scene, sh, files } = await openTaker()
  const outside = join(scene.folder, 'outside')
  mkdirSync(outside, { mode: 0o500 })
  await sh(
    `ln -s ${outside} link; mkdir m; cd m; seq 1 3000 | xargs mkdir; ln -s ${outside} 1/link; seq 1 3000 | xargs chmod 0; echo x > f`,
  )
  const startedAt = performance.now()
  expect((await files())['100644 m/f']).toBe('x\n')
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  expect(statSync(outside).mode & 0o777).toBe(0o500)
})

test.each([
  ['a new folder', 'mkdir d; echo x > d/f; chmod 000 d; echo more >> src/add.js', '100644 d/f'],
  ['a new file in two closed folders', 'mkdir -p d/e; echo x > d/e/f; chmod 000 d/e/f d/e d', '100644 d/e/f'],
  ['a tracked file', 'echo more >> src/add.js; chmod 000 src/add.js', '100644 src/add.js'],
  ['a tracked folder', 'echo more >> src/add.js; chmod 000 src', '100644 src/add.js'],
  ['the work tree itself', 'echo more >> src/add.js; chmod 000 .', '100644 src/add.js'],
])('what a command closed even to its own user is in the tree: %s', async (_, script, name) => {
  const { sh, files } = await openTaker()
  await sh(script)
  expect((await files())[name]).toMatch(/x\n$|more\n$/)
})
