import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { program as main } from '../program.ts'
import { makeRepository } from './open-fixer.ts'

const runWallMs = 110_000

export type Cells = Record<
  'baseCodeBaseTests' | 'newCodeBaseTests' | 'baseCodeNewTests' | 'newCodeNewTests',
  { state: string; checks: { name: string; source: string; exitCode: number | null; killedBy: string | null; counts: object | null }[] }
>
export type FixResult = {
  exitCode: number | undefined
  outcome: string
  reason: string
  verdict: string | null
  evidence: Cells
  sandbox: { state: string }
  patch: string | null
  bundle: string
  files: { path: string }[]
  /** The tree that a clean checkout has after `git apply --index` of the patch, and its names; null without a patch. */
  applied: { names: string[]; read(file: string): string } | null
  stderr: string
  dispose(): void
}
export type FixOptions = {
  /** A folder whose content becomes the repository. */
  from: string
  /** Files as `--issue` and `--model-script` take them. */
  issue: string
  script: string
}

/** One `grokbot run "/grok fix"` as a person starts it: a process, a repository, a data folder of its own. */
export async function runFix({ from, issue, script }: FixOptions): Promise<FixResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-fix-'))
  chmodSync(folder, 0o711)
  const repository = path.join(folder, 'repository')
  const data = path.join(folder, 'data')
  cpSync(from, repository, { recursive: true })
  await makeRepository(repository, {})
  const run = await execa(
    process.execPath,
    [main, 'run', '/grok fix', '--issue', issue, '--repo', repository, '--model-script', script, '--data', data, '--json'],
    { reject: false, timeout: runWallMs, stdin: 'ignore' },
  )
  const last = run.stdout.trim().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`no result, exit ${run.exitCode}: ${run.stderr}`)
  const result = JSON.parse(last) as Omit<FixResult, 'applied' | 'exitCode' | 'stderr' | 'dispose'>
  return {
    ...result,
    exitCode: run.exitCode,
    stderr: run.stderr,
    applied: result.patch === null ? null : await applyElsewhere(repository, result.patch, path.join(folder, 'clone')),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function applyElsewhere(repository: string, patch: string, clone: string): Promise<FixResult['applied']> {
  await git(path.dirname(clone), 'clone', '-q', repository, clone)
  await git(clone, 'apply', '--index', patch)
  const names = (await git(clone, 'ls-files')).split('\n')
  return { names, read: file => readFileSync(path.join(clone, file), 'utf8') }
}

async function git(cwd: string, ...argv: string[]): Promise<string> {
  return (await execa('git', argv, { cwd })).stdout
}
