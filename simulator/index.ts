export type { Adopted } from './github/adopt-payload.ts'
export type { DeliveryWish } from './github/deliver.ts'
export type { FakeGitHub, GitHubOptions } from './github/fake-github.ts'
export type { DeclineReason, Fault, FaultHandle, FaultRule } from './github/fault.ts'
export type {
  Account,
  Comment,
  Delivery,
  GitHubState,
  Issue,
  Permissions,
  Reaction,
  Repository,
  RequestRecord,
  Role,
} from './github/state.ts'
export type { ModelRequest } from './model/answer-request.ts'
export type { ChatRequest } from './model/check-request.ts'
export type { TurnChoice, TurnFunction } from './model/conversation.ts'
export { type FakeModel, type ModelOptions, startFakeModel } from './model/fake-model.ts'
export { ModelFault, ModelScript, ModelTurn } from './model/script.ts'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.ts'
