import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProvenChange } from '../../git/index.ts'
import { makeFolder, makeRepository, plainGit, sh, type writeFiles } from './scene.ts'

export const baseFiles = { 'a.txt': 'old\n', 'b.txt': 'b\n', 'gone.txt': 'gone\n', 'sub/c.txt': 'c\n', '.gitignore': '*.log\nignored/\n' }
/** Changes one file, removes one, adds two. */
export const simpleChange = 'echo new > a.txt; rm gone.txt; mkdir more; echo 1 > more/1.txt; echo 2 > 2.txt'

export type ApplyScene = { folder: string; project: string; change: ProvenChange }

/** A person's repository and a change of its HEAD, made elsewhere, as a task makes it. */
export function makeApplyScene(script = simpleChange, files: Parameters<typeof writeFiles>[1] = baseFiles): ApplyScene {
  const folder = makeFolder()
  const project = makeRepository(folder, files)
  return { folder, project, change: makeChange(folder, project, script) }
}

export function makeChange(folder: string, project: string, script: string): ProvenChange {
  const work = join(folder, 'work')
  sh(folder, `rm -rf work; git clone -q ${project} work; cd work; ${script}; git add -A -f`)
  const patch = join(folder, 'change.patch')
  writeFileSync(patch, sh(work, 'git diff --cached --binary --full-index -M HEAD'))
  return { base: plainGit(work, 'rev-parse', 'HEAD'), tree: plainGit(work, 'write-tree'), patch }
}

/** What is in the index and, as plain git sees it, in the work tree. */
export function standing(project: string): { tree: string; status: string } {
  return { tree: plainGit(project, 'write-tree'), status: sh(project, 'git status --porcelain') }
}

export const appliedStatus = 'A  2.txt\nM  a.txt\nD  gone.txt\nA  more/1.txt\n'
