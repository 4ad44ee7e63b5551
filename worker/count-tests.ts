import { createReadStream } from 'node:fs'
import { openTestCounter, readTestCounts, type TestCounts } from '../domain/index.ts'
import type { CommandResult } from '../sandbox/index.ts'
import { workerLimits } from './limits.ts'

type Output = Pick<CommandResult & { kind: 'ended' }, 'output' | 'outputBytes' | 'outputFile'>

/** From the whole output: some runners say a line a test, and the result holds head and tail only. */
export async function countTests({ output, outputBytes, outputFile }: Output): Promise<TestCounts | null> {
  if (outputBytes <= output.length) return readTestCounts(Buffer.from(output).toString('utf8'))
  if (outputBytes > workerLimits.countedBytesMax) return null
  // Piece by piece: between two of them the thread is free, also for the leases of others.
  const counter = openTestCounter()
  for await (const piece of createReadStream(outputFile, { encoding: 'utf8' })) counter.read(piece as string)
  return counter.counts()
}
