import type { EventType } from '../domain/index.ts'
import { crashpoint } from '../telemetry/index.ts'

/** The named places around every append: `event.<type>.before` with nothing written, `event.<type>.after` with it durable. */
export async function aroundAppend<Result extends { kind: string }>(
  types: readonly EventType[],
  write: () => Promise<Result>,
): Promise<Result> {
  for (const type of types) crashpoint(`event.${type}.before`)
  const result = await write()
  if (result.kind === 'appended' || result.kind === 'accepted') for (const type of types) crashpoint(`event.${type}.after`)
  return result
}
