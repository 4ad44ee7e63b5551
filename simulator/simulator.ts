import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeGitHub, type GitHubOptions, startFakeGitHub } from './github/fake-github.ts'
import { type FakeModel, type ModelOptions, startFakeModel } from './model/fake-model.ts'

/**
 * A strict fake GitHub and a scripted model, both real HTTP servers on 127.0.0.1. `simulate`, `demo` and every test use
 * this one; nothing in it is imported by what it is used to test.
 */
export type Simulator = {
  github: FakeGitHub
  model: FakeModel
  /** Stops both and removes their folder. Safe to repeat. */
  close(): Promise<void>
}

export type SimulatorOptions = {
  /** Where the bare repositories lie; by default a temporary folder, which `close` removes. */
  folder?: string
  github?: GitHubOptions
  model?: ModelOptions
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'simulator-')))
  const github = await startFakeGitHub(folder, options.github)
  const model = await startFakeModel(options.model)
  let closing: Promise<void> | null = null
  const stop = async () => {
    await Promise.all([github.close(), model.close()])
    // A git process of a caller that went away may write for a moment longer.
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return {
    github,
    model,
    close: () => {
      closing ??= stop()
      return closing
    },
  }
}
