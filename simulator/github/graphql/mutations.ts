import { grants, passesLock } from '../permission.ts'
import type { Reaction } from '../state.ts'
import { inaccessible, locateNode, mayResolve, type Node, noNode, reactionThing, threadThing } from './things.ts'
import type { Arguments, Asked, Problem } from './types.ts'

export const reactionWords = {
  THUMBS_UP: '+1',
  THUMBS_DOWN: '-1',
  LAUGH: 'laugh',
  HOORAY: 'hooray',
  CONFUSED: 'confused',
  HEART: 'heart',
  ROCKET: 'rocket',
  EYES: 'eyes',
} as const

type Done = Record<string, unknown> | Problem

export function resolveThread(asked: Asked, threadId: string, resolved: boolean): Done {
  const node = locateNode(asked, threadId)
  if (!node?.root) return noNode(threadId)
  const { repository, root } = node
  if (!mayResolve(asked, repository, root)) return refuse(asked, resolved ? 'ResolveReviewThread' : 'UnresolveReviewThread')
  if (repository.archived) return archived
  root.resolvedBy = resolved ? (root.resolvedBy ?? asked.actor) : null
  return { thread: threadThing(asked, repository, root) }
}

/** The only way to react to a review as a whole: it has no reactions in the REST API. */
export function addReaction(asked: Asked, input: Arguments): Done {
  const subject = findSubject(asked, input, 'AddReaction')
  if ('problem' in subject) return subject
  const { state, actor } = asked
  const { reactions, content, word, node } = subject
  const present = reactions.find(each => each.actor.id === actor.id && each.content === content)
  const reaction: Reaction = present ?? { id: state.nextId(), content, actor, createdAt: state.now() }
  if (!present) reactions.push(reaction)
  return { reaction: reactionThing(reaction, word), subject: node.thing }
}

export function removeReaction(asked: Asked, input: Arguments): Done {
  const subject = findSubject(asked, input, 'RemoveReaction')
  if ('problem' in subject) return subject
  const { reactions, content, word, node } = subject
  const at = reactions.findIndex(each => each.actor.id === asked.actor.id && each.content === content)
  const [reaction] = at < 0 ? [] : reactions.splice(at, 1)
  if (!reaction) return { problem: 'NOT_FOUND', message: 'Could not find the reaction.' }
  return { reaction: reactionThing(reaction, word), subject: node.thing }
}

type Word = keyof typeof reactionWords
type Subject = { node: Node; reactions: Reaction[]; word: Word; content: (typeof reactionWords)[Word] }

function findSubject(asked: Asked, input: Arguments, name: string): Subject | Problem {
  const { token } = asked
  const id = String(input.subjectId)
  const node = locateNode(asked, id)
  if (!node?.reactions) return noNode(id)
  const permission = node.issue.pull ? 'pull_requests' : 'issues'
  if (token.kind === 'installation' && !grants(token.permissions, permission, 'write')) return inaccessible
  if (node.repository.archived) return archived
  if (node.issue.locked && !passesLock(node.repository, token)) return refuse(asked, name, true)
  const word = input.content as Word
  return { node, reactions: node.reactions, word, content: reactionWords[word] }
}

const archived: Problem = { problem: 'UNPROCESSABLE', message: 'Repository was archived so is read-only.' }

function refuse({ token, actor }: Asked, name: string, locked = false): Problem {
  if (token.kind === 'installation' && !locked) return inaccessible
  return { problem: 'FORBIDDEN', message: `${actor.login} does not have the correct permissions to execute \`${name}\`` }
}
