import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Host folders to be bound below /etc as they are. */
export function boundBelowEtc(): { source: string; target: string }[] {
  return boundNames().map(name => ({ source: join('/etc', name), target: join('/etc', name) }))
}

function boundNames(): string[] {
  return [...readdirSync('/etc').filter(name => boundFolders.test(name)), 'ssl/certs'].filter(name =>
    statSync(join('/etc', name), { throwIfNoEntry: false })?.isDirectory(),
  )
}

/** Says which state of the host's files an /etc was made from: another text, another /etc. */
export function describeEtc(agent: { uid: number; gid: number }): string {
  const folders = readdirSync('/etc').filter(name => copiedFolders.test(name))
  const below = folders.flatMap(folder =>
    readdirSync(join('/etc', folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
  )
  const states = [...copiedFiles, 'localtime', ...folders, ...below].sort().map(name => {
    const { ino, size, mtimeMs, mode } = statSync(join('/etc', name), { throwIfNoEntry: false }) ?? {}
    return [name, ino, size, mtimeMs, mode]
  })
  return JSON.stringify([etcVersion, writtenFiles(agent), localtime(), boundNames(), states])
}

/** To be raised when this file makes another /etc of the same host. */
const etcVersion = 2

/**
 * Writes the /etc of a sandbox: what programs need to run, and nothing of the machine's own configuration. Left out on
 * purpose: npmrc and gitconfig (they may hold a token), resolv.conf (no name is resolved inside), shadow, hostname,
 * machine-id, ssh, and everything nobody named.
 */
export function prepareEtc(target: string, agent: { uid: number; gid: number }): void {
  for (const [name, content] of Object.entries(writtenFiles(agent))) writeFileSync(join(target, name), content, { mode: 0o644 })
  mkdirSync(join(target, 'ssl'), { mode: 0o755 })
  for (const name of copiedFiles) {
    const source = join('/etc', name)
    if (statSync(source, { throwIfNoEntry: false })?.isFile()) copyFileSync(source, join(target, name))
  }
  if (existsSync('/etc/localtime')) symlinkSync(localtime(), join(target, 'localtime'))
  symlinkSync('/proc/self/mounts', join(target, 'mtab'))
  for (const name of readdirSync('/etc').filter(name => copiedFolders.test(name))) {
    cpSync(join('/etc', name), join(target, name), { recursive: true, verbatimSymlinks: true })
  }
  for (const name of boundNames()) mkdirSync(join(target, name), { recursive: true, mode: 0o755 })
  openToReaders(target, Object.keys(writtenFiles(agent)))
}

/** A narrow umask closed what was made here; a copy is as open as what it was made of. */
function openToReaders(target: string, written: readonly string[]): void {
  for (const name of readdirSync(target, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(target, name))
    if (stat.isDirectory()) chmodSync(join(target, name), 0o755)
    else if (stat.isFile()) {
      const source = written.includes(name) ? undefined : statSync(join('/etc', name), { throwIfNoEntry: false })
      chmodSync(join(target, name), (source?.mode ?? 0o644) & 0o777)
    }
  }
}

const copiedFiles = [
  'bash.bashrc',
  'debian_version',
  'ethertypes',
  'gai.conf',
  'host.conf',
  'inputrc',
  'ld.so.cache',
  'ld.so.conf',
  'locale.alias',
  'login.defs',
  'magic',
  'magic.mime',
  'mime.types',
  'netconfig',
  'networks',
  'os-release',
  'profile',
  'protocols',
  'rpc',
  'services',
  'shells',
  'ssl/openssl.cnf',
  'timezone',
]

/** Links into /usr, certificates of authorities, and the fixed configuration of language runtimes: no secrets by design. */
const boundFolders = /^(alternatives|java-\d+-openjdk)$/

/** The same, but so small that a copy is cheaper than a mount in every sandbox. */
const copiedFolders = /^(perl|python3(\.\d+)?|terminfo)$/

function writtenFiles(agent: { uid: number; gid: number }): Record<string, string> {
  return {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:${agent.uid}:${agent.gid}:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `root:x:0:\nagent:x:${agent.gid}:\nnogroup:x:65534:\n`,
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files\nprotocols: files\nservices: files\n',
    hostname: 'sandbox\n',
  }
}

/** The time zone as a link into /usr, or UTC when the host's is something else. */
function localtime(): string {
  try {
    const link = readlinkSync('/etc/localtime')
    return link.startsWith('/usr/share/zoneinfo/') && !link.includes('..') ? link : '/usr/share/zoneinfo/UTC'
  } catch {
    return '/usr/share/zoneinfo/UTC'
  }
}
