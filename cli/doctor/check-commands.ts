import type { Environment } from '../../config-schema/index.ts'
import { openSandbox, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { rootsOf } from '../../worker/index.ts'
import { workerSettings } from '../read-operator.ts'
import { openRoom } from '../sandbox/open-place.ts'
import { broken, degraded, type Finding, ok, tried } from './finding.ts'
import { settingsOrDefaults } from './settings-or-defaults.ts'

/** Programs that checks of a repository commonly need, by the words of who looks for them. */
const toolchains = ['node', 'npm', 'python3', 'pip3', 'go', 'cargo', 'java', 'make', 'cc']
const wallMs = 20_000

/** What a task's commands can really start, asked inside a sandbox: what the host has says little. */
export async function checkCommands(environment: Environment, dataDir: string): Promise<Finding[]> {
  return await tried('toolchains', 'grokbot sandbox show workspace', async () => {
    const settings = settingsOrDefaults(() => workerSettings(environment, dataDir))
    const room = await openRoom(environment, { settings })
    try {
      const { sandbox: operator } = settings.operator
      const sandbox = await openSandbox({
        profile: 'workspace',
        policy: operator?.policy ?? 'required',
        workspace: null,
        ...rootsOf(operator?.roots ?? [], []),
        runDir: room.runDir,
        user: room.user,
        network: { kind: 'none' },
        limits: { ...sandboxLimitDefaults, wallMs },
        masked: [],
        poolSize: 0,
        files: false,
      })
      try {
        if (sandbox.unavailable) return [broken('toolchains', 'no sandbox to look in', 'mend the sandbox first')]
        const result = await sandbox.run({
          argv: ['sh', '-c', 'for name; do command -v "$name" >/dev/null && echo "$name"; done; true', 'sh', ...toolchains],
        })
        const found = result.kind === 'ended' ? Buffer.from(result.output).toString('utf8').split('\n').filter(Boolean) : []
        return [toolchainFinding(found)]
      } finally {
        await sandbox.close()
      }
    } finally {
      await room.close()
    }
  })
}

function toolchainFinding(found: readonly string[]): Finding {
  if (found.length > 0) return ok('toolchains', `commands can start ${found.join(', ')}`)
  return degraded(
    'toolchains',
    'commands can start none of the usual ones',
    'install what your repositories need, or name its folder in sandbox.roots of operator.yml',
  )
}
