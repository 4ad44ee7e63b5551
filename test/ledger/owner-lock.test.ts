import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDeadOwners, holdOwnerLock } from '../../ledger/index.ts'

const pollMs = 20

describe('owner locks between processes', () => {
  let dataDir: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'grokbot-locks-'))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) await end(child, 'SIGKILL')
    rmSync(dataDir, { recursive: true })
  })

  async function startOwner(owner: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'owner-process.ts'), dataDir, owner], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    if (child.stdout === null) throw new Error('no standard output')
    const [line] = await once(child.stdout, 'data')
    expect(String(line)).toBe('held\n')
    return child
  }

  it('notices a killed process within a second and removes its file', async () => {
    const child = await startOwner('victim')
    expect(findDeadOwners(dataDir, ['victim'])).toEqual([])
    const killedAt = performance.now()
    child.kill('SIGKILL')
    while (findDeadOwners(dataDir, ['victim']).length === 0) {
      if (performance.now() - killedAt > 5_000) throw new Error('the death was never noticed')
      await sleep(pollMs)
    }
    expect(performance.now() - killedAt).toBeLessThan(1_000)
    expect(readdirSync(join(dataDir, 'locks'))).toEqual([])
    expect(findDeadOwners(dataDir, ['victim'])).toEqual(['victim'])
  })

  it('does not take a stopped process for dead, and still sees it die', async () => {
    const child = await startOwner('sleeper')
    child.kill('SIGSTOP')
    await untilState(child, 'T')
    for (let look = 0; look < 20; look += 1) {
      expect(findDeadOwners(dataDir, ['sleeper'])).toEqual([])
      await sleep(pollMs)
    }
    child.kill('SIGCONT')
    await untilState(child, 'S')
    expect(findDeadOwners(dataDir, ['sleeper'])).toEqual([])
    await end(child, 'SIGKILL')
    expect(findDeadOwners(dataDir, ['sleeper'])).toEqual(['sleeper'])
  })

  it('tells the dead from the living among many and leaves the living their files', async () => {
    const [, two] = await Promise.all(['one', 'two', 'three'].map(startOwner))
    await end(two as ChildProcess, 'SIGKILL')
    expect(findDeadOwners(dataDir, ['one', 'two', 'three', 'never-was'])).toEqual(['two', 'never-was'])
    expect(readdirSync(join(dataDir, 'locks')).sort()).toEqual(['one.db', 'three.db'])
  })

  it('refuses a name that a living process holds and gives it once that is dead', async () => {
    const child = await startOwner('worker')
    expect(() => holdOwnerLock(dataDir, 'worker')).toThrow('another process holds the owner lock of worker')
    await end(child, 'SIGKILL')
    const lock = holdOwnerLock(dataDir, 'worker')
    expect(findDeadOwners(dataDir, ['worker'])).toEqual([])
    lock.release()
  })

  it('gives one name to one of many processes that want it at the same time', async () => {
    const starts = Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'owner-process.ts'), dataDir, 'same'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      children.push(child)
      const [answer] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => ['refused'])])
      return String(answer).trim()
    })
    expect((await Promise.all(starts)).sort()).toEqual(['held', 'refused', 'refused', 'refused'])
  })
})

describe('owner locks inside one process', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'grokbot-locks-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  it('never reports an owner of its own, and looking does not loosen the lock for others', async () => {
    const lock = holdOwnerLock(dataDir, 'me')
    for (let look = 0; look < 50; look += 1) expect(findDeadOwners(dataDir, ['me'])).toEqual([])
    expect(await askOtherProcess(dataDir, 'me')).toEqual([])
    lock.release()
    expect(existsSync(join(dataDir, 'locks', 'me.db'))).toBe(false)
    expect(findDeadOwners(dataDir, ['me'])).toEqual(['me'])
  })

  it('holds against another thread of the same process, which loosens nothing either', async () => {
    const lock = holdOwnerLock(dataDir, 'me')
    const worker = new Worker(new URL('ask-dead-owners.ts', import.meta.url), { argv: [dataDir, 'me'] })
    const [dead] = await once(worker, 'message')
    expect(dead).toEqual([])
    await worker.terminate()
    expect(await askOtherProcess(dataDir, 'me')).toEqual([])
    lock.release()
  })

  it.each(['', '.', '../escape', 'a/b', 'a\0b'])('refuses the name %j', owner => {
    expect(() => holdOwnerLock(dataDir, owner)).toThrow('can not be a file name')
    expect(() => findDeadOwners(dataDir, [owner])).toThrow('can not be a file name')
  })
})

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

async function untilState(child: ChildProcess, state: string): Promise<void> {
  for (let look = 0; look < 250; look += 1) {
    if (readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.startsWith(state)) return
    await sleep(pollMs)
  }
  throw new Error(`the process never came into state ${state}`)
}

async function askOtherProcess(dataDir: string, owner: string): Promise<unknown> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'ask-dead-owners.ts'), dataDir, owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [answer] = await once(child.stdout, 'data')
  await once(child, 'exit')
  return JSON.parse(String(answer))
}
