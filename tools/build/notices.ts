import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Metafile } from 'esbuild'

export type BundledPackage = { name: string; version: string; license: string; text: string }

/** Every package a bundle took a file from, by name; SQLite's own addon comes with its package. */
export function packagesOf(root: string, metafiles: readonly Metafile[]): BundledPackage[] {
  const folders = new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)).flatMap(packageFolder))
  return [...folders].sort().map(folder => readPackage(path.join(root, folder)))
}

function packageFolder(input: string): string[] {
  const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []
  return folder === undefined ? [] : [folder]
}

/** Throws for a package without a licence: such a one must not be shipped. */
function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  if (typeof license !== 'string') throw new Error(`the package ${name} names no licence`)
  const files = readdirSync(folder).filter(file => /^(?:licen[cs]e|copying|notice)/i.test(file))
  const texts = files.sort().map(file => readFileSync(path.join(folder, file), 'utf8').trim())
  return { name, version, license, text: texts.join('\n\n') || `Licensed under ${license}; the package carries no text of it.` }
}

export function renderNotices(packages: readonly BundledPackage[]): string {
  const rule = '-'.repeat(80)
  const parts = packages.map(({ name, version, license, text }) => `${rule}\n${name} ${version} (${license})\n\n${text}\n`)
  return `This program contains the following packages.\n\n${parts.join('\n')}`
}
