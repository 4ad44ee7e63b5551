export {
  type Acceptance,
  type AcceptanceSettings,
  decideAcceptance,
  type Facts,
  isTrusted,
  type RefusalReason,
  type WrittenCommand,
} from './acceptance.ts'
export {
  type Bundle,
  type BundleEntry,
  type BundleFacts,
  type BundleManifest,
  type BundleSource,
  bundleLines,
  composeEntries,
  composeManifest,
  statementOf,
  statementPayloadType,
} from './bundle.ts'
export { catalogue, isProblemCode, type ProblemCode, problemCodes } from './catalogue/catalogue.ts'
export { areas, type Problem } from './catalogue/problem.ts'
export {
  type ChainedHeader,
  type ChainFault,
  type EventHeader,
  findChainFault,
  firstPrevious,
  hashEvent,
  hashPayload,
  saltBytes,
} from './chain.ts'
export { clipSubject } from './clip-subject.ts'
export { type CommandRow, checkRunButtons, commandTable, findCommand, grantOf, needsWorker, type Verb } from './command.ts'
export { type Conclusion, checkRunName, checkRunNames, conclusionOf } from './conclusion.ts'
export { type DayBudgets, dayBudgets, overBudgetWords } from './day-budgets.ts'
export { deliveryWords } from './delivery-words.ts'
export { type Detected, detectCommands, type RootView } from './detect-commands.ts'
export { type DsseEnvelope, type PublicKey, preAuthEncoding, publicKeyOf, readPublicKey, sealEnvelope, verifySignature } from './dsse.ts'
export {
  type Cell,
  type ChangedFile,
  cells,
  type Decision,
  type EffectKind,
  type EventType,
  eventSchemas,
  eventTypes,
  eventVersion,
  type Grant,
  type Limits,
  type NewEvent,
  type Payload,
  type RecordedEvent,
  receiptTypes,
  type SandboxReport,
  type TaskAccepted,
  type TaskRefused,
  type ToolCall,
  type Usage,
} from './event.ts'
export { type EvidenceRow, evidenceRows } from './evidence-rows.ts'
export { duration, money, took } from './figures.ts'
export { foldTask } from './fold-task.ts'
export { type CellResult, type CheckEvidence, hasPassed, type Judgement, judgeEvidence } from './judge-evidence.ts'
export { lackWords, lastSandbox } from './last-sandbox.ts'
export { type EventMigrators, eventMigrators, migrateEvent, UnknownEvent } from './migrate-event.ts'
export { cutShort, endOfCancel, endWords, type Outcome, outcomes } from './outcome.ts'
export { type PageLink, readLink, renderLink } from './page-link.ts'
export { findProtected, lfsNote, type ProtectedFile, type ProtectedRules } from './protected-paths.ts'
export { type BundleFault, bundleLimits, faultReasons, readBundle } from './read-bundle.ts'
export { type Receipt, receiptColumns, receiptRow, receiptsOfBundle, receiptsOfEvents } from './receipts.ts'
export { type Redaction, redactionOf } from './redaction.ts'
export { resultWords } from './result-words.ts'
export { hasRole, type Role, roles } from './role.ts'
export { type SuggestedFile, type Suggestion, suggestionsFor } from './suggestions.ts'
export { taintWords } from './taint-words.ts'
export {
  type CallState,
  type EffectPhase,
  type EffectState,
  effectTransitions,
  emptyTaskState,
  type SessionState,
  type TaskState,
  type TurnState,
} from './task-state.ts'
export { openTestCounter, readTestCounts, type TestCounts } from './test-counts.ts'
export { decidesChecks, startsChecks } from './test-files.ts'
export { type Verification, verifyBundle } from './verify-bundle.ts'
