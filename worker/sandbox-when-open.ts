import type { SessionPorts } from '../agent/index.ts'
import type { FileFault, Sandbox } from '../sandbox/index.ts'

type AgentSandbox = SessionPorts['sandbox']

/**
 * A sandbox that is still being opened, as the tools see it: the model can be asked meanwhile, and the first call of a tool
 * waits. What could not be opened answers as a sandbox that is not there; nothing ever runs in its place.
 */
export function sandboxWhenOpen(opening: Promise<Sandbox>, profile: string): AgentSandbox {
  let opened: Sandbox | null = null
  opening.then(
    sandbox => {
      opened = sandbox
    },
    // Whoever opened it waits for it too and hears of this.
    () => {},
  )
  const files = async () => (await opening).files
  return {
    get report() {
      return opened?.report ?? { engine: 'bwrap', state: 'none', profile, missing: [] }
    },
    egress: () => opened?.egress() ?? [],
    run: async command => (await opening).run(command),
    files: {
      read: async (...call) => (await files())?.read(...call) ?? noFiles(),
      write: async (...call) => (await files())?.write(...call) ?? noFiles(),
      list: async (...call) => (await files())?.list(...call) ?? noFiles(),
      walk: async (...call) => (await files())?.walk(...call) ?? noFiles(),
      search: async (...call) => (await files())?.search(...call) ?? noFiles(),
    },
  }
}

function noFiles(): FileFault {
  return { kind: 'fault', code: 'broken', message: 'there is no file service' }
}
