import { readLink } from '../../domain/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { pagesLimits } from './limits.ts'
import type { KeptFile } from './open-kept-file.ts'
import { discard, fileAnswer, jsonAnswer, notFound, type PageAnswer, pageAnswer, tryLater } from './page-answer.ts'
import { publishKeys } from './publish-keys.ts'
import { type RecordPorts, readTaskRecord } from './read-task-record.ts'
import { renderErased, renderTaskPage } from './render-task-page.ts'

export type PagesPorts = RecordPorts & {
  /** The change as a file; null = the task has none. */
  readPatch(taskId: string): Promise<KeptFile | null>
  /** The bundle as a file, of an ended task; null = there is none. */
  readBundle(taskId: string): Promise<KeptFile | null>
  /** Every public key this installation ever signed with, in PEM. */
  publicKeys(): Promise<readonly string[]>
  /** What links are made with, and nothing else. */
  linkKey: Uint8Array
  /** The host of GitHub's pages, as `github.com`: no other one is ever linked to. */
  githubHost: string
  programName: string
  now(): number
  logger: Logger
}

export type PageRequest = { method: string; url: string }

/**
 * The pages behind links, and the public keys. Null: not a page of ours. The key of a link is looked at before anything of
 * the task is: without a right one there is one answer, in the same time, for every task that is and is not.
 */
export function createPages(ports: PagesPorts): (request: PageRequest) => Promise<PageAnswer | null> {
  // What is public has room of its own: whoever asks for it without end is in no reader's way.
  const [show, publish] = [roomFor(ports.logger), roomFor(ports.logger)]
  return async ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return null
    const [path = '', query = ''] = splitOnce(url, '?')
    if (path === keysPath) return await publish(async () => jsonAnswer(publishKeys(await ports.publicKeys()), 'public, max-age=300'))
    if (!path.startsWith('/r/')) return null
    const asked = readAsked(path, query, ports)
    return asked === null ? notFound() : await show(() => answerTask(asked, ports))
  }
}

/** Makes so many answers at a time, each in its time; who finds no room is asked to come again. */
function roomFor(logger: Logger): (work: () => Promise<PageAnswer>) => Promise<PageAnswer> {
  let open = 0
  return async work => {
    if (open >= pagesLimits.pagesAtOnceMax) return tryLater('Others are being shown theirs.', 5)
    open += 1
    try {
      return await inTime(
        work().finally(() => {
          open -= 1
        }),
      )
    } catch (error) {
      logger.error({ error }, 'a page could not be made')
      return tryLater('The record can not be read.', 30)
    }
  }
}

const keysPath = '/.well-known/grokbot/keys.json'
const taskPath = /^\/r\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})(?:\/(change\.patch|bundle\.json))?$/

type Asked = { taskId: string; file: string | undefined; k: string; until: number }

/** Null: without a right key for this task, which is all that is looked at here. */
function readAsked(path: string, query: string, { linkKey, now }: PagesPorts): Asked | null {
  const [, taskId, file] = taskPath.exec(path) ?? []
  const given = new URLSearchParams(query).getAll('k')
  const [k = ''] = given
  if (taskId === undefined || given.length !== 1) return null
  const until = readLink({ taskId, k, now: now() }, linkKey)
  return until === null ? null : { taskId, file, k, until }
}

async function answerTask({ taskId, file, k, until }: Asked, ports: PagesPorts): Promise<PageAnswer> {
  const row = await ports.ledger.task(taskId)
  if (row === null) return notFound()
  const isErased = row.erasedAt !== null
  if (file === 'change.patch') return toFile(isErased ? null : await ports.readPatch(taskId), 'text/plain; charset=utf-8', file)
  if (file === 'bundle.json') return toFile(await readBundle(taskId, isErased, ports), 'application/json; charset=utf-8', file)
  const { programName, githubHost } = ports
  const link = { k, until, bundle: await isThere(readBundle(taskId, isErased, ports)), programName }
  if (row.erasedAt !== null) return pageAnswer(410, renderErased(row, row.erasedAt, link))
  const patch = await isThere(ports.readPatch(taskId))
  const record = await readTaskRecord(row, ports)
  // Erased while it was read: what was read by then is not shown either.
  if (record.state.erased) return pageAnswer(410, renderErased(row, ports.now(), link))
  return pageAnswer(200, renderTaskPage(record, { ...link, patch, githubHost, now: ports.now() }))
}

/** How every bundle begins that was made after its task was erased: RFC 8785 puts this name first. */
const erasedStart = '{"format":"grokbot bundle v1","manifest":{"erased":{'

/** A bundle from before the erasing may lie there for a moment, or for as long as nobody could make it anew. */
async function readBundle(taskId: string, isErased: boolean, ports: PagesPorts): Promise<KeptFile | null> {
  const file = await ports.readBundle(taskId)
  if (file === null || !isErased || file.start.startsWith(erasedStart)) return file
  file.stream.destroy()
  return null
}

function toFile(file: KeptFile | null, contentType: string, name: string): PageAnswer {
  return file === null ? notFound() : fileAnswer(file, contentType, name)
}

async function isThere(reading: Promise<KeptFile | null>): Promise<boolean> {
  const file = await reading
  file?.stream.destroy()
  return file !== null
}

/** An answer that comes too late is let go of, with the file it may hold open. */
function inTime(work: Promise<PageAnswer>): Promise<PageAnswer> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new Error('a page took too long'))
    }, pagesLimits.pageMsMax)
    work.then(answer => (isLate ? discard(answer) : resolve(answer)), reject).finally(() => clearTimeout(timer))
  })
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
