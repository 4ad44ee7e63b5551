export type Todo = { id: string; content: string; status: 'pending' | 'in_progress' | 'completed' | 'cancelled' }
/** The session's own list: kept in memory and rebuilt from the recorded calls on resume. */
export type TodoList = Map<string, Todo>
