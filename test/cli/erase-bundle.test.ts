import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyBundle } from '../../domain/index.ts'
import { type BundleScene, fixedKey, openBundleScene, publicKey, taskId } from '../domain/bundle-scene.ts'
import { program as main } from '../program.ts'

let scene: BundleScene
let taskDir: string
beforeAll(async () => {
  scene = await openBundleScene()
  taskDir = path.join(scene.dataDir, 'tasks', taskId)
  await scene.write()
  writeFileSync(path.join(taskDir, 'change.patch'), 'the output of a diff')
})
afterAll(() => scene.close())

const erase = (key: string) =>
  execa(process.execPath, [main, 'data', 'erase', taskId, '--data', scene.dataDir, '--json'], {
    reject: false,
    env: { GROKBOT_SIGNING_KEY: key },
  })
const pem = fixedKey(1).export({ format: 'pem', type: 'pkcs8' }).toString()

it('`data erase` leaves a bundle that verifies, with a tombstone in place of every payload, and no other file', {
  timeout: 60_000,
}, async () => {
  const { stdout, stderr, exitCode } = await erase(pem)
  expect({ exitCode, stderr, result: JSON.parse(stdout) }).toMatchObject({
    exitCode: 0,
    stderr: '',
    result: { taskId, erased: true, bundle: 'signed' },
  })
  expect(readdirSync(taskDir)).toEqual(['bundle.json'])
  const bytes = readFileSync(path.join(taskDir, 'bundle.json'))
  expect(verifyBundle(bytes, [publicKey(1)])).toMatchObject({
    kind: 'intact',
    signed: 'trusted',
    bundle: { manifest: { erased: { at: expect.any(Number) }, facts: { commit: { sha: '1'.repeat(40) } } } },
  })
  expect(bytes.toString('utf8')).not.toContain('the output')
})

it('and so it does when it is asked again, and unsigned when the key can not be used', { timeout: 60_000 }, async () => {
  expect(JSON.parse((await erase(pem)).stdout)).toMatchObject({ bundle: 'signed' })
  expect(JSON.parse((await erase('no key')).stdout)).toMatchObject({ bundle: 'unsigned' })
  expect(verifyBundle(readFileSync(path.join(taskDir, 'bundle.json')), [publicKey(1)])).toMatchObject({
    kind: 'intact',
    signed: 'unsigned',
  })
})
