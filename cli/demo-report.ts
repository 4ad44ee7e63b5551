import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Payload, receiptsOfBundle, type TaskState, type Verification, verifyBundle } from '../domain/index.ts'
import type { FakeGitHub } from '../simulator/index.ts'
import { bundlePath, evidenceOf, patchPath, publicKeysFolder, taskFolder } from '../worker/index.ts'
import { escapeLines, escapeText, toSafeJson } from './escape.ts'
import { exitCodeOf, exitCodes } from './exit.ts'
import { readKeys } from './read-keys.ts'
import { receiptsTable } from './receipts-table.ts'
import { shellWord } from './run/local-repository.ts'
import { type OutFiles, writeOutFiles } from './run/out-folder.ts'
import { compareCommit } from './verify.ts'

export type DemoEnd = {
  taskId: string
  state: TaskState
  dataDir: string
  github: FakeGitHub
  repo: string
  durationMs: number
  /** From the kill of a worker to the next model request of another; null: none was killed, or none went on. */
  recoveryMs: number | null
  /** Where the person stands who reads the report, and how they call this program. */
  callerDir: string
  program: string
}

/**
 * What the demo leaves: the patch and the bundle in `.grok/out` of the caller's folder, with the public key they are
 * checked with, since the data folder they come from is removed.
 */
export async function keepDemoFiles(end: DemoEnd): Promise<OutFiles & { key: string | null }> {
  const folder = taskFolder(end.dataDir, end.taskId)
  const out = writeOutFiles(end.callerDir, end.taskId, { patch: patchPath(folder), bundle: bundlePath(folder) })
  if (out.bundle === null || out.problem !== null) return { ...out, key: null }
  const key = path.join(path.dirname(out.bundle), `${end.taskId}.pem`)
  const [published] = await readKeys(publicKeysFolder(end.dataDir))
  if (published) writeFileSync(key, published.key.export({ format: 'pem', type: 'spki' }), { flag: 'wx' })
  return { ...out, key }
}

/** Checks the bundle as anybody could who has it: with the installation's key, and against the repository that was pushed to. */
export async function verifyDemo({ dataDir, github, repo }: DemoEnd, bundle: string): Promise<Verification> {
  const verification = verifyBundle(readFileSync(bundle), await readKeys(publicKeysFolder(dataDir)))
  return await compareCommit(verification, github.state.repositories.get(repo)?.folder)
}

/** Prints the result and sets the exit code. */
export function reportDemo(end: DemoEnd, out: OutFiles & { key: string | null }, verification: Verification | null, json: boolean): void {
  const { state } = end
  const pull = pullOf(state)
  const outcome = state.outcome?.outcome ?? 'errored'
  process.exitCode = exitCodeOf(outcome)
  if (outcome === 'succeeded' && (pull === null || verification?.kind !== 'intact')) process.exitCode = exitCodes.failed
  const text = json ? toSafeJson(resultOf(end, out, verification)) : renderEnd(end, out, verification)
  process.stdout.write(`${text}\n`)
}

function resultOf({ state, durationMs, recoveryMs }: DemoEnd, out: OutFiles, verification: Verification | null) {
  const pull = pullOf(state)
  const checks = evidence(state)
  return {
    outcome: state.outcome?.outcome ?? 'errored',
    pullRequest: pull && {
      number: pull['number'],
      url: pull['url'],
      branch: state.commit?.branch,
      headSha: pull['headSha'],
      draft: pull['draft'],
    },
    checksBefore: checks.map(({ name, cells }) => ({ name, ...cells.baseCodeBaseTests })),
    checksAfter: checks.map(({ name, cells }) => ({ name, ...cells.newCodeNewTests })),
    turns: state.session?.turns.length ?? 0,
    receipts: verification?.kind === 'intact' ? receiptsOfBundle(verification.bundle).length : 0,
    sandbox: { state: state.workspace?.sandbox.state ?? 'none' },
    bundle: out.bundle,
    verify: verifyText(verification),
    durationMs,
    ...(recoveryMs === null ? {} : { recoveryMs, attempts: state.attempts.length }),
  }
}

function evidence(state: TaskState) {
  return evidenceOf(state, [...new Set(state.checks.newCodeNewTests.map((check: Payload<'check.settled'>) => check.name))])
}

function pullOf({ effects }: TaskState): Record<string, unknown> | null {
  return Object.values(effects).find(({ kind, state }) => kind === 'pull-request' && state === 'confirmed')?.remote ?? null
}

function verifyText(verification: Verification | null): string {
  if (verification === null) return 'no bundle'
  if (verification.kind === 'fault') return `fault: ${escapeText(verification.fault.message)}`
  return verification.signed === 'trusted' ? 'ok' : verification.signed
}

/** The pull request as a person sees it, then the proof. */
function renderEnd(
  { state, github, repo, callerDir, program, recoveryMs }: DemoEnd,
  out: OutFiles & { key: string | null },
  verification: Verification | null,
): string {
  const pull = [...(github.state.repositories.get(repo)?.issues.values() ?? [])].find(issue => issue.pull)
  if (!pull) return `no pull request: ${escapeText(state.outcome?.reason ?? 'no outcome')}`
  return [
    '',
    `pull request #${pull.number}: ${escapeText(pull.title)}${pull.pull?.draft ? ' (draft)' : ''}`,
    '',
    escapeLines(pull.body ?? ''),
    '',
    out.patch ? escapeLines(readFileSync(out.patch, 'utf8').trimEnd()) : '',
    '',
    verification?.kind === 'intact' ? receiptsTable(receiptsOfBundle(verification.bundle)) : '',
    '',
    `verify: ${verifyText(verification)}`,
    ...(recoveryMs === null ? [] : [`resumed: the next model request came ${recoveryMs} ms after the kill`]),
    out.bundle && out.key
      ? `again:  ${program} verify ${shown(callerDir, out.bundle)} --key ${shown(callerDir, out.key)}`
      : (out.problem ?? ''),
  ].join('\n')
}

function shown(from: string, file: string): string {
  const relative = path.relative(from, file)
  return escapeText(shellWord(relative.startsWith('..') ? file : relative))
}
