import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { emptyTaskState, type TaskState } from '../../domain/index.ts'
import { hasUnkeptWork, patchPath } from '../../worker/index.ts'
import { replaceFile } from '../../worker/replace-file.ts'
import { makeFolder, makeRepository, openScene, plainGit, writeFiles } from '../git/scene.ts'

/** A task whose change is recorded and whose patch, of some 90 KB, is not yet a file. */
async function openTask() {
  const folder = makeFolder()
  const project = makeRepository(folder, { 'value.txt': 'broken\n' })
  const baseTree = plainGit(project, 'rev-parse', 'HEAD^{tree}')
  writeFiles(project, { 'value.txt': 'a line of the change\n'.repeat(4_000) })
  plainGit(project, 'commit', '-q', '-a', '-m', 'second')
  const tree = plainGit(project, 'rev-parse', 'HEAD^{tree}')
  const { store } = await openScene(folder, project)
  const taskDir = path.join(folder, 'task')
  mkdirSync(taskDir)
  const file = { path: 'value.txt', status: 'modified', from: null, mode: '100644', added: 4_000, removed: 1, notes: [] }
  const state = {
    ...emptyTaskState(),
    workspace: { baseTree },
    change: { tree, files: [file], leftOut: [], refused: [] },
  } as unknown as TaskState
  const order = path.join(folder, 'order.json')
  writeFileSync(order, JSON.stringify({ store, taskDir, state }))
  const keep = async (limits: string) => {
    const command = `${limits} exec "$0" "$@"`
    return (await execa('/bin/sh', ['-c', command, process.execPath, path.join(import.meta.dirname, 'patch-writer.ts'), order])).stdout
  }
  return { taskDir, state, keep, kept: () => !hasUnkeptWork(state, taskDir), project, baseTree }
}

test('a patch that the full disk takes half of is not taken for one that was kept, and the next try keeps it whole', async () => {
  const { taskDir, keep, kept, project, baseTree } = await openTask()
  // A limit on the size of a file stands for the full disk.
  expect([await keep('ulimit -f 64;'), kept(), readdirSync(taskDir)]).toEqual(['EFBIG', false, []])
  expect([await keep(''), kept(), readdirSync(taskDir)]).toEqual(['kept', true, ['change.patch']])
  plainGit(project, 'checkout', '-q', `${plainGit(project, 'rev-list', '--max-parents=0', 'HEAD')}`)
  plainGit(project, 'apply', '--index', patchPath(taskDir))
  expect([plainGit(project, 'rev-parse', 'HEAD^{tree}'), plainGit(project, 'write-tree')]).toEqual([
    baseTree,
    plainGit(project, 'rev-parse', 'main^{tree}'),
  ])
})

test('a file whose writer is killed in the middle stays as it was', async () => {
  const folder = makeFolder()
  const [fresh, old] = [path.join(folder, 'fresh'), path.join(folder, 'old')]
  await replaceFile(old, 'as it was')
  const module = JSON.stringify(path.join(import.meta.dirname, '../../worker/replace-file.ts'))
  const script = `const { replaceFile } = await import(${module})
    const pieces = function* () { yield 'half'; yield ' of it'; process.kill(process.pid, 'SIGKILL') }
    await replaceFile(process.argv[1], pieces())`
  for (const file of [fresh, old]) {
    const { signal } = await execa(process.execPath, ['--input-type=module', '-e', script, file], { reject: false })
    expect(signal).toBe('SIGKILL')
  }
  expect([existsSync(fresh), readFileSync(old, 'utf8')]).toEqual([false, 'as it was'])
})
