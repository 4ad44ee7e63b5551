import { existsSync } from 'node:fs'
import { execa } from 'execa'
import { broken, degraded, type Finding, ok } from './finding.ts'

const nodeMajorMin = 24
const gitMin = { major: 2, minor: 36 }
const versionWallMs = 10_000

/** The programs of the host itself; the sandbox's own are found by really starting one. */
export async function checkPrograms(): Promise<Finding[]> {
  return [nodeFinding(), await gitFinding(), ripgrepFinding()]
}

function nodeFinding(): Finding {
  const { node } = process.versions
  if (Number(node.split('.')[0]) >= nodeMajorMin) return ok('node', `${node} at ${process.execPath}`)
  return broken('node', `${node} is older than ${nodeMajorMin}`, `install Node ${nodeMajorMin}, or start through ./dev, which brings one`)
}

async function gitFinding(): Promise<Finding> {
  const install = 'apt-get install git'
  const result = await execa('git', ['--version'], { reject: false, timeout: versionWallMs, stdin: 'ignore' })
  const version = /(\d+)\.(\d+)/.exec(String(result.stdout ?? ''))
  if (result.exitCode !== 0 || !version) return broken('git', 'git can not be started', install)
  const [major, minor] = [Number(version[1]), Number(version[2])]
  if (major > gitMin.major || (major === gitMin.major && minor >= gitMin.minor)) return ok('git', String(result.stdout).trim())
  return broken('git', `${version[0]} is older than ${gitMin.major}.${gitMin.minor}`, install)
}

/** Looked for where the sandbox's engine looks: a search path could lead into a workspace. */
function ripgrepFinding(): Finding {
  const place = ['/usr/bin/rg', '/usr/local/bin/rg'].find(path => existsSync(path))
  return place ? ok('ripgrep', place) : degraded('ripgrep', 'not installed, so the grep tool can not search', 'apt-get install ripgrep')
}
