import type { Environment } from '../../config-schema/index.ts'
import { sandboxText } from './sandbox-text.ts'
import { openView, type View } from './view.ts'

/** The view of a front that follows a task it did not start itself: `demo`. */
export function openDemoView(environment: Environment): View {
  return openView({
    stream: process.stderr,
    detail: 0,
    startedAt: performance.now(),
    now: () => performance.now(),
    head: { lines: [], opened: ({ sandbox, network }) => sandboxText(sandbox, network) },
    plain: false,
    ci: environment.CI !== undefined,
    colour: environment.NO_COLOR === undefined,
    hints: 'Ctrl-C ends it',
  })
}
