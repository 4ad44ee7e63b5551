import { createReadStream, statSync } from 'node:fs'
import type { Command } from 'commander'
import {
  type Bundle,
  type BundleFault,
  type BundleManifest,
  bundleLimits,
  receiptsOfBundle,
  type Verification,
  verifyBundle,
} from '../domain/index.ts'
import { escapeText, toSafeJson } from './escape.ts'
import { exitCodes, UsageError } from './exit.ts'
import { readKeys } from './read-keys.ts'
import { notRead } from './read-named.ts'
import { receiptsTable } from './receipts-table.ts'

export type VerifyOptions = { key?: string; keys?: string; repo?: string; receipts?: boolean; json?: boolean }

export function define(command: Command): void {
  command
    .argument('<bundle>', 'the file with the receipts of one task')
    .option('--key <file>', 'the public key that must have signed it, as PEM')
    .option('--keys <url-or-file>', 'the public keys one of which must have signed it: a PEM file, a folder of them, or a URL')
    .option('--repo <dir>', 'also compare commit, tree and parent with this git repository')
    .option('--receipts', 'also print the receipts')
    .option('--json', 'print one object')
    .addHelpText('after', exitHelp)
  command.action(async (file: string, options: VerifyOptions) => {
    const { exitCode, text } = await verifyFile(file, options)
    process.exitCode = exitCode
    process.stdout.write(`${text}\n`)
  })
}

const exitHelp = `
Without a key the file's own is used, which shows that it was not changed since, but not who made it: "integrity only".
Exit: 0 intact, 1 a fault was found, 2 usage, 5 intact but unsigned.`

/** What a script gets; `fault` names the first thing that is wrong. */
type VerifyResult = {
  result: 'ok' | 'integrity-only' | 'unsigned' | 'fault'
  fault: BundleFault | null
  manifest: BundleManifest | null
  receipts: number | null
  repository: 'matches' | 'not-compared'
}

const results = { trusted: 'ok', embedded: 'integrity-only', unsigned: 'unsigned' } as const
const exits = { ok: exitCodes.done, 'integrity-only': exitCodes.done, unsigned: exitCodes.lowerRung, fault: exitCodes.failed } as const

/** What is printed, and with which code the process ends. Throws `UsageError` for what the caller got wrong. */
export async function verifyFile(file: string, options: VerifyOptions): Promise<{ exitCode: number; text: string }> {
  if (options.key && options.keys) throw new UsageError('options-clash', '--key and --keys can not be given together')
  const from = options.key ?? options.keys
  const keys = from === undefined ? null : await readKeys(from)
  const verification = await compareCommit(verifyBundle(await readBytes(file), keys), options.repo)
  const result = resultOf(verification, options.repo)
  return { exitCode: exits[result.result], text: options.json ? toSafeJson(result) : renderResult(verification, result, options) }
}

/** At most one byte more than may be read: the check then says that it is too large. */
async function readBytes(file: string): Promise<Uint8Array> {
  try {
    if (!statSync(file).isFile()) throw new UsageError('file-missing', `${escapeText(file)} is no file`)
    const chunks: Uint8Array[] = []
    for await (const chunk of createReadStream(file, { end: bundleLimits.fileBytesMax })) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    throw notRead(error, file)
  }
}

/** The commit as the repository has it, against what the bundle says it is. */
export async function compareCommit(verification: Verification, folder: string | undefined): Promise<Verification> {
  if (verification.kind === 'fault' || folder === undefined) return verification
  const { commit, pushed } = verification.bundle.manifest.facts
  if (commit === null) return mismatch('no-commit', `the task made no commit, so there is nothing to compare: ${withoutRepo}`)
  // Loaded only here: without a repository there is nothing to start git for.
  const { readCommit } = await import('../git/index.ts')
  const found = await readCommit(folder, commit.sha)
  switch (found.kind) {
    case 'no-repository':
      throw new UsageError('repository-missing', escapeText(found.message), ['name the top folder of a work tree, or a bare repository'])
    case 'absent':
      return mismatch(
        'no-commit',
        `the repository does not have the commit ${commit.sha}${pushed ? '' : `, which was never pushed: ${withoutRepo}`}`,
      )
    case 'found': {
      const same = found.tree === commit.tree && found.parents.length === 1 && found.parents[0] === commit.parent
      return same ? verification : mismatch('other-commit', `the commit ${commit.sha} has another tree or parent in the repository`)
    }
  }
}

/** A run's commit is in the task's own store; what a person has of it is the patch. */
const withoutRepo = 'verify without --repo, and apply the patch to have the change'

function mismatch(reason: BundleFault['reason'], message: string): Verification {
  return { kind: 'fault', fault: { where: 'repository', seq: null, reason, message } }
}

function resultOf(verification: Verification, repo: string | undefined): VerifyResult {
  if (verification.kind === 'fault') {
    return { result: 'fault', fault: verification.fault, manifest: null, receipts: null, repository: 'not-compared' }
  }
  const { bundle, signed } = verification
  return {
    result: results[signed],
    fault: null,
    manifest: bundle.manifest,
    receipts: receiptsOfBundle(bundle).length,
    repository: repo === undefined ? 'not-compared' : 'matches',
  }
}

function renderResult(verification: Verification, { result, receipts }: VerifyResult, { repo, receipts: listed }: VerifyOptions): string {
  if (verification.kind === 'fault') {
    const { seq, where, reason, message } = verification.fault
    return `fault: ${seq === null ? where : `event ${seq}`} (${reason}): ${escapeText(message)}`
  }
  const { bundle } = verification
  return [
    `${result === 'integrity-only' ? 'integrity only' : result}: ${escapeText(bundle.manifest.task)}, ${bundle.manifest.events} events, ${receipts} receipts`,
    ...factLines(bundle.manifest, verification.signed),
    ...(repo === undefined ? [] : [`compared    the repository has this commit with this tree and parent`]),
    ...(listed ? ['', receiptsTable(receiptsOfBundle(bundle))] : []),
  ].join('\n')
}

type Signed = Extract<Verification, { kind: 'intact' }>['signed']

function factLines({ facts, signer, redaction, erased }: Bundle['manifest'], signed: Signed): string[] {
  const { repository, commit, pushed, outcome } = facts
  const made = commit ? [`commit      ${commit.sha}`, `tree        ${commit.tree}`, `parent      ${commit.parent}`] : []
  return [
    `repository  ${escapeText(`${repository.owner}/${repository.name}`)}`,
    `outcome     ${outcome}${commit ? (pushed ? ', pushed' : ', not pushed') : ', no commit'}`,
    ...made,
    signer
      ? `signed by   ${signer.keyId}${signed === 'embedded' ? ' (the key in the file: it does not say whose)' : ''}`
      : 'signed by   nobody',
    ...(erased ? [`erased      ${new Date(erased.at).toISOString()}: only the headers are left`] : []),
    ...(redaction === 'outputs' && !erased ? ['left out    outputs (the repository is public)'] : []),
  ]
}
