import { readFileSync, writeSync } from 'node:fs'
import { silentLogger } from '../../telemetry/index.ts'
import { keepPatch } from '../../worker/keep-patch.ts'

// The signal of a file that may grow no more: heard, so that writing fails as it does on a full disk.
process.on('SIGXFSZ', () => undefined)

/** Keeps the patch of the task that a file describes, and says what became of it. */
const { store, taskDir, state } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const task = { id: 't_1', taskDir, log: { state: () => state }, ports: { logger: silentLogger } } as unknown as Parameters<
  typeof keepPatch
>[0]
writeSync(
  1,
  await keepPatch(task, { store }).then(
    () => 'kept',
    error => error.code,
  ),
)
