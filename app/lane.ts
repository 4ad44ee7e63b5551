import type { Asked } from './read-event.ts'

/** Whatever works on one issue or pull request works one after another. */
export function laneOf({ repository, subject }: Pick<Asked, 'repository' | 'subject'>): string {
  return `${repository.id}#${subject.number}`
}
