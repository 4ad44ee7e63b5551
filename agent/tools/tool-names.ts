import type { Prompts } from '../../prompts/index.ts'

/** Prompts speak of a tool by its primitive, `${{ tool.read }}`; each family fills in its own name. Only what a template asks for. */
export function toolNames(prompts: Prompts, template: string, clientNames: ReadonlyMap<string, string>): Record<string, string> {
  const asked = prompts.placeholders(template).filter(name => name.startsWith('tool.'))
  return Object.fromEntries(
    asked.flatMap(name => {
      const client = clientNames.get(name.slice('tool.'.length))
      return client === undefined ? [] : [[name, client]]
    }),
  )
}
