export { openPrompts, type Prompts } from './open-prompts.ts'
