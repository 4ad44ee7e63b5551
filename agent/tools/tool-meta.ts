import { toolKinds } from './kinds.ts'
import type { MetaInput, Tool } from './tool.ts'

/** The canonical projection of a call, version 1: what receipts, pages and telemetry may rely on. */
export type ToolMeta = {
  version: 1
  /** As the model called it. */
  name: string
  kind: string
  namespace: string
  label: string
  read_only: boolean
  input?: MetaInput
}

export function toolMeta(tool: Tool, input: unknown): ToolMeta {
  const projected = tool.project(input)
  const { label, readOnly } = toolKinds[tool.kind]
  const meta: ToolMeta = { version: 1, name: tool.name, kind: tool.kind, namespace: tool.namespace, label, read_only: readOnly }
  return projected ? { ...meta, input: projected } : meta
}
