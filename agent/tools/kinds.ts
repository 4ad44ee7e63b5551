import type { Grant } from '../../domain/index.ts'

type Capability = Grant['capabilities'][number]

/**
 * What a tool can do to the world. `capability` is what the grant must hold for it: a kind without a decided permission
 * does not compile, and a name that is no kind is treated as `other`, which may do everything and therefore needs all.
 */
type KindRow = { label: string; readOnly: boolean; needs: readonly Capability[] }

const reads = ['read'] as const
const writes = ['write'] as const
const runs = ['run'] as const
const everything = ['read', 'write', 'run'] as const

export const toolKinds = {
  read: { label: 'Read', readOnly: true, needs: reads },
  edit: { label: 'Edit', readOnly: false, needs: writes },
  delete: { label: 'Delete', readOnly: false, needs: writes },
  list_dir: { label: 'List Files', readOnly: true, needs: reads },
  write: { label: 'Write', readOnly: false, needs: writes },
  move: { label: 'Move', readOnly: false, needs: writes },
  search: { label: 'Search', readOnly: true, needs: reads },
  lsp: { label: 'Code Intelligence', readOnly: true, needs: reads },
  execute: { label: 'Run Command', readOnly: false, needs: runs },
  plan: { label: 'Plan', readOnly: false, needs: [] },
  web_search: { label: 'Web Search', readOnly: true, needs: everything },
  web_fetch: { label: 'Web Fetch', readOnly: true, needs: everything },
  background_task_action: { label: 'Background Task', readOnly: false, needs: runs },
  wait_tasks_action: { label: 'Wait for Tasks', readOnly: false, needs: runs },
  kill_task_action: { label: 'Kill Task', readOnly: false, needs: runs },
  list: { label: 'List Files', readOnly: true, needs: reads },
  skill: { label: 'Skill', readOnly: false, needs: everything },
  task: { label: 'Subagent', readOnly: false, needs: everything },
  enter_plan: { label: 'Enter Plan Mode', readOnly: true, needs: [] },
  exit_plan: { label: 'Exit Plan Mode', readOnly: true, needs: [] },
  ask_user: { label: 'Ask User', readOnly: true, needs: [] },
  image_gen: { label: 'Generate Image', readOnly: false, needs: everything },
  video_gen: { label: 'Generate Video', readOnly: false, needs: everything },
  image_to_video: { label: 'Generate Video', readOnly: false, needs: everything },
  reference_to_video: { label: 'Generate Video', readOnly: false, needs: everything },
  deploy_app: { label: 'Deploy App', readOnly: false, needs: everything },
  search_tool: { label: 'Search Tools', readOnly: false, needs: [] },
  use_tool: { label: 'Use Tool', readOnly: false, needs: everything },
  monitor: { label: 'Monitor', readOnly: false, needs: runs },
  goal_update: { label: 'Update Goal', readOnly: false, needs: [] },
  workflow: { label: 'Workflow', readOnly: false, needs: everything },
  other: { label: 'Tool', readOnly: false, needs: everything },
  memory_search: { label: 'Memory Search', readOnly: true, needs: reads },
  memory_get: { label: 'Memory Read', readOnly: true, needs: reads },
} as const satisfies { [kind: string]: KindRow }

export type ToolKind = keyof typeof toolKinds
