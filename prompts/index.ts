export { openPrompts, PromptFault, type Prompts } from './open-prompts.ts'
