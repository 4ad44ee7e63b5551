import * as z from 'zod'
import { lenientBoolean } from './lenient.ts'
import { failed, ok } from './outcome.ts'
import type { Primitive } from './tool.ts'

const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const

const Input = z.object({
  merge: lenientBoolean().describe('true (default): change the items named; false: replace the list.'),
  todos: z.array(z.object({ id: z.coerce.string().min(1), content: z.string().optional(), status: z.enum(statuses).optional() })),
})
type Input = z.infer<typeof Input>

type Todo = { id: string; content: string; status: (typeof statuses)[number] }
/** The session's own list: kept in memory and rebuilt from the recorded calls on resume. */
export type TodoList = Map<string, Todo>

export const todo: Primitive<Input> = {
  kind: 'plan',
  verb: 'plan',
  readOnly: true,
  inMemory: true,
  input: Input as z.ZodType<Input>,
  touch: () => ({ reads: null, writes: null }),
  label: input => `${input.todos.length} items`,
  project: () => undefined,
  async run(input, context) {
    const { todos, limits } = context
    const ids = input.todos.map(item => item.id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) return failed(`The id ${JSON.stringify(twice)} is there twice; nothing was changed.`, 'duplicate id')
    const replaces = input.merge === false && !onlyUpdates(input, todos)
    if ((replaces ? 0 : todos.size) + ids.filter(id => replaces || !todos.has(id)).length > limits.todosMax) {
      return failed(`The list can have at most ${limits.todosMax} items; nothing was changed.`, 'too many')
    }
    if (replaces) todos.clear()
    for (const item of input.todos) {
      const known = todos.get(item.id)
      todos.set(item.id, {
        id: item.id,
        content: item.content ?? known?.content ?? item.id,
        status: item.status ?? known?.status ?? 'pending',
      })
    }
    const done = [...todos.values()].filter(item => item.status === 'completed').length
    const lines = [...todos.values()].map(item => `- [${item.status}] ${item.id}: ${item.content}`)
    return ok(lines.length > 0 ? lines.join('\n') : 'No todos are tracked.', `${done} of ${todos.size} done`)
  },
}

/** `merge: false` with nothing but status changes of known items is a slip: taken by its word it would lose every text. */
function onlyUpdates(input: Input, todos: TodoList): boolean {
  return todos.size > 0 && input.todos.length > 0 && input.todos.every(item => item.content === undefined && todos.has(item.id))
}
