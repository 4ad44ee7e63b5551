import { eventTypes, eventVersion } from './event.ts'

/**
 * Lifts the payload of an old event to today's version, one version at a time. A migrator is pure and may change only
 * the shape: a recorded decision stays what it was. The stored bytes and their hash are never touched.
 */
export function migrateEvent(event: { type: string; version: number }, payload: unknown, table: EventMigrators = eventMigrators): unknown {
  const { type, version } = event
  if (!(eventTypes as readonly string[]).includes(type)) throw new UnknownEvent(type, version)
  if (!Number.isInteger(version) || version < 1 || version > table.version) throw new UnknownEvent(type, version)
  let lifted = payload
  for (let from = version; from < table.version; from += 1) {
    const migrate = table.migrators[`${type}@${from}`]
    if (migrate === undefined) throw new UnknownEvent(type, from)
    lifted = migrate(lifted)
  }
  return lifted
}

export type EventMigrators = {
  /** The version every payload is lifted to. */
  version: number
  /** `<type>@<version>` to the function that makes version + 1 of it. */
  migrators: Readonly<Record<string, (payload: unknown) => unknown>>
}

export const eventMigrators: EventMigrators = { version: eventVersion, migrators: {} }

/** The ledger holds an event this program can not read: it was written by a newer one. */
export class UnknownEvent extends Error {
  override name = 'UnknownEvent'
  readonly type: string
  readonly version: number
  constructor(type: string, version: number) {
    super(`no way to read an event of type ${JSON.stringify(type)} in version ${version}`)
    this.type = type
    this.version = version
  }
}
