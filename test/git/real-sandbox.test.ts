import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adoptTree, planTree, type Workspace } from '../../git/index.ts'
import { type CommandResult, openSandbox, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { listNames, makeScene, readTree, rules, type Scene, workspaceOf } from './scene.ts'

/** The same road in the product's own sandbox: what the plan mounts is all a tree sandbox needs, and stat data hold there. */
async function runIn(
  scene: Scene,
  profile: string,
  place: { workspace: { source: string; mode: 'ro' | 'rw' }; mounts: Workspace['agentMounts'] },
  argv: readonly string[],
): Promise<Extract<CommandResult, { kind: 'ended' }>> {
  const runDir = join(scene.folder, `sandbox-${listNames(scene.folder).length}`)
  mkdirSync(runDir, { mode: 0o711 })
  const sandbox = await openSandbox({
    ...place,
    profile,
    policy: 'required',
    runDir,
    user: scene.user,
    network: { kind: 'none' },
    limits: sandboxLimitDefaults,
    masked: [scene.dataDir],
    poolSize: 0,
    files: false,
  })
  try {
    const result = await sandbox.run({ argv })
    if (result.kind !== 'ended') throw new Error(result.reason)
    return result
  } finally {
    await sandbox.close()
  }
}

test('in the product’s sandbox the agent has its repository, and a strict sandbox makes the tree without reading an unchanged file', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  const agent = { workspace: { source: workspace.path, mode: 'rw' as const }, mounts: workspace.agentMounts }
  const script =
    'git diff-files; git log --format=%s; echo changed > src/add.js; git update-index --assume-unchanged src/add.js; git config core.fsmonitor "touch /tmp/x"; mkfifo pipe; git init -q nested'
  const played = await runIn(scene, 'workspace', agent, ['bash', '-c', script])
  expect({ exitCode: played.exitCode, output: Buffer.from(played.output).toString() }).toEqual({ exitCode: 0, output: 'first\n' })

  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
  const made = await runIn(scene, 'strict', plan, plan.argv)
  const adopted = await adoptTree({ store: scene.store, plan, rules, baseTree: scene.baseTree })
  if (adopted.kind !== 'adopted') throw new Error(`${adopted.reason}: ${Buffer.from(made.output)}`)
  expect(Buffer.from(made.output).toString()).toBe(`${adopted.tree}\n`)
  expect(readTree(scene, adopted.tree)['100644 src/add.js']).toBe('changed\n')
  expect(adopted.gitlinksLeftOut).toEqual(['nested'])
  // One row for the one file that changed: nothing else had to be read.
  expect(readFileSync(join(plan.quarantine, 'raw'), 'latin1').match(/:\d{6} /g)).toHaveLength(1)
})
