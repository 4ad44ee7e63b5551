import type { ModelFailure } from '../agent/index.ts'
import type { ProblemCode, TaskState } from '../domain/index.ts'

const codes = {
  unauthorized: 'model-key',
  forbidden: 'model-key',
  'not-found': 'model-missing',
  'bad-request': 'model-broken',
  'context-length': 'model-too-long',
  'too-large': 'model-too-long',
  quota: 'model-credit',
  'told-not-to': 'model-limiting',
  certificate: 'model-silent',
  'rate-limited': 'model-limiting',
  overloaded: 'model-silent',
  server: 'model-silent',
  connect: 'model-silent',
  reset: 'model-silent',
  stream: 'model-silent',
  empty: 'model-silent',
  'reasoning-only': 'model-silent',
  truncated: 'model-too-long',
  'too-long': 'model-too-long',
  idle: 'model-silent',
  'total-time': 'model-silent',
  cancelled: 'session-stopped',
  unexpected: 'model-broken',
} as const satisfies Record<ModelFailure, ProblemCode>

/** What the last failure of the model comes to for people. A kind that an older or newer version has recorded is as good as none. */
export function modelProblem({ session }: Pick<TaskState, 'session'>): ProblemCode {
  const kind = session?.failures.at(-1)?.kind
  return kind !== undefined && Object.hasOwn(codes, kind) ? codes[kind as ModelFailure] : 'model-broken'
}
