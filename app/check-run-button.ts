import { checkRunButtons, type WrittenCommand } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { type Ignored, ignored } from './ignored.ts'
import { readAccepted } from './read-accepted.ts'
import type { Asked, Clicked } from './read-event.ts'

/**
 * What a click is about: the issue or pull request of the task that the check run belongs to. The external id is only
 * believed of our own check runs, and only within the repository of its task. `at`: when the click came in, since GitHub
 * names no time of it; its own times have whole seconds.
 */
export async function locateClick(
  clicked: Clicked & { at: number },
  ownAppId: number,
  { ledger }: { ledger: Pick<Ledger, 'readEvents'> },
): Promise<{ kind: 'asked'; asked: Asked } | Ignored> {
  if (clicked.appId !== ownAppId) return ignored('foreign-check-run', 'the check run is not ours')
  const task = await readAccepted(clicked.taskId, ledger)
  if (!task?.subject || task.repository.id !== clicked.repository.id)
    return ignored('foreign-check-run', 'the check run belongs to no task of this repository')
  const { actor, repository, installationId, checkRunId } = clicked
  const { kind, number, title, body, trusted } = task.subject
  return {
    kind: 'asked',
    asked: {
      source: { kind: 'button', id: checkRunId },
      reviewId: null,
      text: '',
      createdAt: new Date(clicked.at - (clicked.at % 1_000)).toISOString(),
      actor,
      repository,
      installationId,
      subject: { kind, number, title, body },
      // Who wrote the snapshot was looked at when it was taken: then the click's own role decides, else nobody's does.
      author: trusted === true ? actor : null,
      locked: false,
      reactTo: null,
    },
  }
}

/** A button that is not in the table is an unknown command like any other. */
export function commandOfButton({ identifier }: Clicked): WrittenCommand {
  const button = checkRunButtons.find(each => each.identifier === identifier)
  return { index: 0, word: button?.verb ?? (identifier || 'help'), text: '' }
}
