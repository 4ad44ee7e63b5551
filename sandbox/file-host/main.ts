import { Socket } from 'node:net'
import { faultOf } from './fault.ts'
import { createFrameReader, encodeFrame } from './frame.ts'
import { listFolder } from './list-folder.ts'
import { readFile } from './read-file.ts'
import { runRipgrep } from './run-ripgrep.ts'
import { stampTree } from './stamp-tree.ts'
import { writeFile } from './write-file.ts'

/**
 * The file host: the process inside a sandbox of its own through which file tools read and write. It decides nothing; it
 * tries, and the kernel allows what the mounts allow. It never runs anything but ripgrep. Its standard input and output are
 * pipes to the worker and carry frames; the first argument is ripgrep's path.
 */
const ripgrep = process.argv[2] ?? ''
/** Only without a sandbox (profile `off`): where the inside paths lie on the host. */
const map = JSON.parse(process.argv[3] ?? '[]') as [string, string][]
const output = new Socket({ fd: 1, readable: false, writable: true })
const input = new Socket({ fd: 0, readable: true, writable: false })
const headerBytesMax = 1024 * 1024
const bodyBytesMax = 256 * 1024 * 1024

type Answer = { header: Record<string, unknown>; body?: Uint8Array }

async function answer(request: Record<string, unknown>, body: Buffer): Promise<Answer> {
  const path = resolvePath(String(request.path ?? '/workspace'))
  switch (request.call) {
    case 'read':
      return readFile(path, Number(request.maxBytes))
    case 'write':
      return { header: writeFile(path, body) }
    case 'list':
      return { header: listFolder(path, Number(request.entriesMax)) }
    case 'stamp':
      return { header: stampTree(path, Number(request.entriesMax)) }
    case 'walk':
    case 'search':
      return runRipgrep({ program: ripgrep, folder: resolvePath('/workspace') }, withHostPaths(request), path)
    default:
      return { header: { kind: 'fault', code: 'broken', message: 'unknown call' } }
  }
}

/** Relative paths start at the workspace. Nothing else is decided about a path here. */
function resolvePath(path: string): string {
  const absolute = path.startsWith('/') ? path : `/workspace/${path}`
  const mapped = map.find(([inside]) => absolute === inside || absolute.startsWith(`${inside}/`))
  return mapped ? mapped[1] + absolute.slice(mapped[0].length) : absolute
}

/** A search names its paths among ripgrep's arguments. */
function withHostPaths(request: Record<string, unknown>): Record<string, unknown> {
  if (map.length === 0 || !Array.isArray(request.argv)) return request
  return { ...request, argv: request.argv.map(text => (String(text).startsWith('/') ? resolvePath(String(text)) : text)) }
}

const read = createFrameReader(
  frame => {
    answer(frame.header, frame.body)
      .catch(error => ({ header: faultOf(error) }) as Answer)
      .then(({ header, body }) => output.write(encodeFrame({ ...header, id: frame.header.id }, body)))
  },
  headerBytesMax,
  bodyBytesMax,
)

input.on('data', read)
// The worker is gone or has closed the session.
input.on('end', () => process.exit(0))
output.on('error', () => process.exit(0))
output.write(encodeFrame({ kind: 'ready' }))
