import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readOrMakeKey } from '../../cli/keys.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'grokbot-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a secret is made at its first use, whole, for its owner alone, and stays', () => {
  const made = readOrMakeKey(folder, 'marker.key')
  expect([made.length, readOrMakeKey(folder, 'marker.key')]).toEqual([32, made])
  expect(readdirSync(path.join(folder, 'keys'))).toEqual(['marker.key'])
  expect(statSync(path.join(folder, 'keys/marker.key')).mode & 0o777).toBe(0o600)
})

test('of several that start at once all have the same, however often that is tried', async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ readOrMakeKey }) => {
      parentPort.on('message', round => {
        while (Atomics.load(workerData.gate, 0) < round) {}
        let said
        try { said = Buffer.from(readOrMakeKey(workerData.folder, 'key-' + round)).toString('hex') } catch (error) { said = error.message }
        parentPort.postMessage(said)
      })
      parentPort.postMessage('ready')
    })`
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { module: path.resolve('cli/keys.ts'), folder, gate }
  const workers = Array.from({ length: 2 }, () => new Worker(source, { eval: true, workerData }))
  const said = (worker: Worker) => new Promise<string>(resolve => worker.once('message', resolve))
  expect(await Promise.all(workers.map(said))).toEqual(['ready', 'ready'])
  for (let round = 1; round <= 200; round++) {
    const answers = workers.map(said)
    for (const worker of workers) worker.postMessage(round)
    Atomics.store(gate, 0, round)
    const [one, other] = await Promise.all(answers)
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(other).toBe(one)
  }
  await Promise.all(workers.map(worker => worker.terminate()))
})

test('what is no whole secret is not taken for one', () => {
  readOrMakeKey(folder, 'marker.key')
  writeFileSync(path.join(folder, 'keys/marker.key'), 'short')
  expect(() => readOrMakeKey(folder, 'marker.key')).toThrow('has 5 bytes, not 32: restore it from a back-up')
})
