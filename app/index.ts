export { requestCancel, type SettledDelivery, type Taken } from './intake.ts'
export { type IntakeLoop, startIntakeLoop } from './intake-loop.ts'
export { parseCommands } from './parse-commands.ts'
export { createReceiver } from './receiver.ts'
